# SPDX-License-Identifier: GPL-2.0-or-later
# Makes one page of the viewer's parts, with nothing but awk:
#
#	awk -v step=script -f page.awk MODULE.js..           the modules as one script
#	awk -v script=FILE -v style=FILE -v script_hash=HEX -v style_hash=HEX -f page.awk page.html.in
#
# A module's imports name modules before it, so its import lines and the word export are dropped;
# names at the top of all modules must differ, which the browser checks (it is one module then).
# Hashes are SHA-256 in hexadecimal; the policy in the page wants them in base64.
function base64(hex,    n, i, k, bits, out) {
	n = length(hex)
	out = ""
	for (i = 1; i <= n; i += 6) { # three bytes
		bits = 0
		for (k = 0; k < 6; k++)
			bits = bits * 16 + (i + k <= n ? index("0123456789abcdef", substr(hex, i + k, 1)) - 1 : 0)
		out = out letter(int(bits / 262144)) letter(int(bits / 4096) % 64)
		out = out (i + 2 <= n ? letter(int(bits / 64) % 64) : "=") (i + 4 <= n ? letter(bits % 64) : "=")
	}
	return out
}
function letter(value) {
	return substr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", value + 1, 1)
}
function copy(file,    line) {
	while ((getline line < file) > 0)
		print line
	close(file)
}
step == "script" {
	if ($0 ~ /^import /) {
		inside = $0 !~ /;$/
		next
	}
	if (inside) {
		inside = $0 !~ /;$/
		next
	}
	if (FNR == 1 && $0 ~ /SPDX/ && NR > 1)
		next
	sub(/^export /, "")
	print
	next
}
/^@STYLE@$/ { copy(style); next }
/^@SCRIPT@$/ { copy(script); next }
{
	gsub(/@STYLE_HASH@/, base64(style_hash))
	gsub(/@SCRIPT_HASH@/, base64(script_hash))
	print
}
