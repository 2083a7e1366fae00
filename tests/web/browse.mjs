// SPDX-License-Identifier: GPL-2.0-or-later
// Drives every view of the page in Chromium:
//
//	TOOLS=DIR CHROMIUM=PROGRAM node --test browse.mjs
//
// DIR holds node_modules of web/package-lock.json. The working directory holds pages that
// viewer_browser_test.sh made: demo.html (two profiles with code and data), hostile.html, bare.html (a
// trace), others.html, objects.html and watched.html (odd ones). SHOTS=DIR keeps pictures to look at.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { readFileSync } from "node:fs";

import { address, close, isReady, open, openAddress, require, settle, shoot } from "./browser.mjs";
import { documentOfFile, json } from "./page_data.mjs";
import { count, percent } from "../../web/units.js";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["overview", "code", "pairs", "data", "threads", "ops", "phases", "diff"];

test("every view draws, in light and dark, wide and narrow, and axe finds nothing", async () => {
	for (const [colorScheme, width] of [
		["light", 1280],
		["dark", 1280],
		["light", 420],
	]) {
		const page = await open("demo.html", "", {
			colorScheme,
			bypassCSP: true,
			viewport: { width, height: 800 },
		});

		await page.evaluate(axe);
		for (const view of VIEWS) {
			await page.evaluate((fragment) => (location.hash = fragment), `#${view}`);
			await settle(page);
			assert.ok((await page.locator("main").innerText()).trim().length > 40, `${view} shows something`);
			assert.equal(
				await page
					.locator("nav a[aria-current]")
					.innerText()
					.then((text) => text.toLowerCase()),
				view,
			);
			const wide = await page.evaluate(
				() => document.documentElement.scrollWidth - document.documentElement.clientWidth,
			);

			assert.ok(wide <= 0, `${view} is ${wide} pixels wider than the window of ${width}`);
			const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));

			assert.deepEqual(
				found.violations.map(
					(violation) =>
						`${view} ${colorScheme} ${width}: ${violation.id}: ${violation.nodes[0].html.slice(0, 160)} ${violation.nodes[0].failureSummary}`,
				),
				[],
			);
			await shoot(page, `${view}-${colorScheme}-${width}`);
		}
		await close(page);
	}
});

test("a printed page leaves nothing out to the right", async () => {
	const page = await open("demo.html", "", { viewport: { width: 720, height: 1000 } });

	await page.emulateMedia({ media: "print" });
	for (const view of VIEWS) {
		await page.evaluate((fragment) => (location.hash = fragment), `#${view}`);
		await settle(page);
		const beyond = await page.evaluate(() =>
			[...document.querySelectorAll("main table")]
				.filter((table) => table.getBoundingClientRect().right > innerWidth)
				.map((table) => table.caption.textContent),
		);

		assert.deepEqual(beyond, [], view);
	}
	await close(page);
});

test("the figures on the page are loci's", async () => {
	const spec = "L1=16K/4,L2=48K/6,L3=1M";
	const page = await open("demo.html", `#overview&cache=${spec}`);
	const expected = json("cache", process.env.DEMO, "--cache", spec).levels;
	const rows = await page.locator(".level-table tbody tr").all();

	assert.equal(rows.length, 3);
	for (const [i, row] of rows.entries()) {
		const cells = (await row.locator("td.number").allInnerTexts()).map((text) =>
			text.split("\n")[0].replace(/^~/, ""),
		);

		assert.equal(cells[0], count(Math.round(expected[i].hits)));
		assert.equal(cells[1], count(Math.round(expected[i].misses)));
		assert.equal(cells[2], percent(expected[i].miss_ratio));
		assert.equal(cells[5], percent(expected[i].conflict / expected[i].accesses));
	}
	const [report] = json("report", process.env.DEMO).profiles;

	// the verdict is of the cache that is shown
	assert.match(await page.locator(".headline").innerText(), /^~?[\d.]+\s% of references miss a 16\sKiB L1; ~/);
	assert.match(await page.locator(".card").last().innerText(), /from L1 \(16\sKiB\)|miss L1/);
	await page.goto(address("demo.html", "#overview"));
	await page.reload();
	await isReady(page);
	assert.ok((await page.locator(".headline").innerText()).includes(report.verdict.text));
	await page.goto(address("demo.html", "#code&by=function&level=L2"));
	await page.reload();
	await isReady(page);
	const table = json("report", process.env.DEMO, "--by", "function", "--level", "L2", "--all").profiles[0];
	const first = page.locator(".tree .grid-row:not([hidden])").first();

	assert.deepEqual(
		(await first.locator(".cell").allInnerTexts())
			.slice(0, 3)
			.map((text) => text.replace(/^[▸▾]\s*/, "").trim()),
		[table.rows[0].name, count(table.rows[0].misses), percent(table.rows[0].share)],
	);
	await close(page);
});

test("a stranger finds line, array and cache size", async () => {
	const page = await open("demo.html");
	const cards = await page.locator(".card").allInnerTexts();
	const { profiles } = json("report", process.env.DEMO);
	const [line] = profiles[0].blame.lines;

	assert.equal(cards.length, 3);
	assert.ok(cards[0].includes(line.name), cards[0]);
	assert.ok(cards[1].includes(line.object.name), cards[1]);
	assert.ok(/\d\s(B|[KMG]iB)/.test(cards[2]), cards[2]);
	assert.match(cards[2], /\u2192 .* fully associative|a larger cache gains little/);
	for (const size of await page.locator(".step-size").allInnerTexts()) assert.match(size, /[KMG]iB$/);
	assert.match(await page.locator("main").innerText(), /fit in less than 1\sKiB/);
	await page.keyboard.press("?");
	assert.match(await page.locator("dialog").innerText(), /stack distance[^]*WAW[^]*carried by/);
	await page.keyboard.press("Escape");
	await page.locator(".card").first().click();
	await settle(page);
	assert.match(page.url(), /#code.*sel=line:/);
	assert.equal(
		await page.locator(".source [aria-selected=true] .line-number").innerText(),
		String(line.site.line),
	);
	await page.goBack();
	await settle(page);
	await page.locator(".card").nth(1).click();
	await settle(page);
	assert.ok((await page.locator(".detail h2").innerText()).includes(line.object.name));
	await close(page);
});

test("a cache is dragged by mouse, moved by key, typed in; levels come and go", async () => {
	const page = await open("demo.html");
	const ratio = () => page.locator(".level-table tbody tr").first().locator("td.number").nth(2).innerText();
	const before = await ratio();
	const grip = page.locator(".edge[role=slider] .edge-grip").first();
	const box = await grip.boundingBox();

	await page.mouse.move(box.x + 9, box.y + 100);
	await page.mouse.down();
	await page.mouse.move(box.x - 200, box.y + 100, { steps: 5 });
	await page.mouse.up();
	await settle(page);
	assert.match(page.url(), /cache=L1=/);
	const asked = decodeURIComponent(/cache=([^&]*)/.exec(page.url())[1]);
	const [expected] = json("cache", process.env.DEMO, "--cache", asked).levels;

	assert.ok(expected.size_bytes < 1024, asked);
	assert.equal((await ratio()).split("\n")[0].replace("~", ""), percent(expected.miss_ratio));
	await page.locator(".edge[role=slider]").first().focus();
	const small = await page.locator("[data-field=size-0]").inputValue();

	await page.keyboard.press("ArrowRight");
	await settle(page);
	assert.notEqual(await page.locator("[data-field=size-0]").inputValue(), small);
	assert.equal(
		await page.evaluate(() => document.activeElement.dataset.level),
		"0",
		"the edge keeps the focus",
	);
	await page.locator("[data-field=ways-0]").fill("full");
	await page.locator("[data-field=ways-0]").press("Enter");
	await settle(page);
	assert.doesNotMatch(page.url(), /L1=[^,/]*\//);
	await page.locator("[data-field=size-0]").fill("12 apples");
	await page.locator("[data-field=size-0]").press("Tab");
	assert.equal(await page.locator("[data-field=size-0]").getAttribute("aria-invalid"), "true");
	await page.getByText("add a level").click();
	await settle(page);
	assert.equal(await page.locator(".level-table tbody tr").count(), 4);
	await page.getByLabel("remove L4").click();
	await page.locator(".machines select").selectOption({ index: 3 });
	await settle(page);
	await page.goto(address("demo.html", "#overview&cache=L1=3000K/3"));
	await page.reload();
	await isReady(page);
	assert.match(await ratio(), /^~.*\n[\d.]+\s% to [\d.]+\s%$/, "the error stands where the number is");
	await page.getByText("back to the recorded machine").click();
	await settle(page);
	assert.equal(await ratio(), before);
	await close(page);
});

test("a click in one pane moves the others", async () => {
	const page = await open("demo.html", "#code");
	const chosen = () => page.locator(".tree [aria-selected=true] .label").innerText();
	const title = () => page.locator(".metrics h2").innerText();

	for (const by of ["line", "loop", "file", "module", "object", "context", "function"]) {
		await page.locator(".tree .choice button", { hasText: new RegExp(`^${by}$`) }).click();
		await settle(page);
		assert.equal(await chosen(), await title(), by);
	}
	await page.locator(".tree .grid").focus();
	for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"]) {
		const before = await chosen();

		await page.keyboard.press(key);
		await settle(page);
		assert.notEqual(await chosen(), before, "the keys go on where they were");
	}
	await page.keyboard.press("ArrowRight");
	await settle(page);
	await page.keyboard.press("ArrowDown");
	await settle(page);
	assert.equal(await page.locator(".tree [aria-selected=true]").getAttribute("aria-level"), "2");
	assert.equal(await chosen(), await title());
	const line = /:(\d+)/.exec(await title())[1];

	assert.equal(await page.locator(".source [aria-selected=true] .line-number").innerText(), line);
	// and back from the source
	await page.evaluate(() => (document.querySelector(".source .grid").scrollTop = 1e6));
	await settle(page);
	const other = page
		.locator(".source .grid-row:not([hidden]):not([aria-selected=true])", {
			has: page.locator(".heat", { hasText: /\d/ }),
		})
		.last();
	const number = await other.locator(".line-number").innerText();

	await other.click();
	await settle(page);
	assert.ok((await title()).includes(`:${number}`));
	assert.equal(await chosen(), await title());
	// the address alone gives the same again
	const again = await open("demo.html", new URL(page.url()).hash);

	assert.equal(await again.locator(".metrics h2").innerText(), await title());
	assert.equal(await again.locator(".tree [aria-selected=true] .label").innerText(), await title());
	await close(again);
	await page.locator(".tree [role=columnheader] button", { hasText: "name" }).click();
	await settle(page);
	const names = (
		await page.locator(".tree .grid-row:not([hidden])[aria-level='1'] .label").allInnerTexts()
	).filter((name) => !/ more$/.test(name));

	assert.deepEqual(
		names,
		[...names].sort((a, b) => (a < b ? -1 : 1)),
	);
	await close(page);
});

test("keys, search, levels, profiles and pairs", async () => {
	const page = await open("demo.html");
	const doc = documentOfFile("demo.html");

	for (const [i, view] of VIEWS.entries()) {
		await page.keyboard.press(String(i + 1));
		await settle(page);
		assert.equal(await page.locator("main").getAttribute("data-view"), view);
	}
	await page.keyboard.press("?");
	assert.ok(await page.locator("dialog[open]").isVisible());
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog:not([open])", { state: "attached" });
	await page.keyboard.press("4");
	await settle(page);
	await page.keyboard.press("/");
	const name =
		doc.profiles[0].objects.name[
			doc.profiles[0].objects.misses[0].indexOf(Math.max(...doc.profiles[0].objects.misses[0]))
		];

	await page.keyboard.type(name);
	await settle(page);
	const found = await page.locator(".data .grid-row:not([hidden])").allInnerTexts();

	assert.ok(
		found.length && found.every((text) => text.toLowerCase().includes(name.toLowerCase())),
		found.join(),
	);
	await page.keyboard.press("Escape");
	await settle(page);
	assert.doesNotMatch(page.url(), /q=/);
	await page.keyboard.press("]");
	await settle(page);
	assert.match(page.url(), /level=L2/);
	await page.keyboard.press("3");
	await settle(page);
	assert.ok((await page.locator(".side").allInnerTexts()).length === 2);
	await page.locator(".side button.link").first().click();
	await settle(page);
	assert.match(page.url(), /#code/);
	await page.keyboard.press("t");
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
	await page.locator(".tools .choice button", { hasText: doc.profiles[1].name }).click();
	await settle(page);
	assert.match(page.url(), /p=1/);
	await page.goBack();
	await close(page);
});

test("loci view serves the same page", async () => {
	const server = spawn(process.env.LOCI, ["view", "--no-open", process.env.DEMO]);
	const [line] = await once(server.stdout, "data");
	const page = await openAddress(String(line).trim());

	assert.match(page.url(), /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
	assert.equal(await page.locator(".card").count(), 3);
	await page.locator(".card").first().click();
	await settle(page);
	assert.match(page.url(), /#code/);
	await close(page);
	server.kill("SIGINT");
	assert.deepEqual(await once(server, "exit"), [0, null]);
});

test("what a profile lacks is said", async () => {
	const page = await open("bare.html");

	for (const view of ["code", "pairs", "data", "threads", "ops", "phases", "diff"]) {
		await page.evaluate((fragment) => (location.hash = fragment), `#${view}`);
		await settle(page);
		assert.ok(await page.locator(".empty h2").isVisible(), view);
	}
	await close(page);
});

// Time distances of the whole with an error, and of code none: nothing may look exact, or like no misses.
test("of samples that were watched every view says what it knows", async () => {
	const page = await open("watched.html");
	const text = async (view) => {
		await page.evaluate((fragment) => (location.hash = fragment), `#${view}`);
		await settle(page);
		await shoot(page, `watched-${view}`);
		return page.locator("main").innerText();
	};

	for (const p of [0, 2, 3]) {
		const words = await text(`overview&p=${p}`);

		assert.match(words, /~[\d.<]+\s%\n0\s% to [\d.]+\s%/);
		assert.match(words, /StatStack makes stack distances of time distances/);
		assert.match(words, /from a sample: miss ratios \u00b1\d(\.\d)? points \(95 %\)/);
		assert.equal(p === 3, /caches are as large as the machine's, but have lines of 8\sB/.test(words));
		assert.doesNotMatch(words, /exact/);
		assert.equal(await page.locator(".chart .interval").count(), 2, "the curve has its interval");
		for (const cell of await page.locator(".level-table td.number").allInnerTexts())
			assert.match(cell, /^~.*\d|^\u2013$/);
	}
	assert.match(await text("code&p=0"), /samples that were watched/);
	assert.match(await text("data&p=0"), /No objects/);
	assert.match(await text("pairs&p=0"), /No pairs/);
	assert.match(await text("threads&p=0"), /One thread|does not tell threads apart/);
	assert.match(await text("phases&p=0"), /No phases/);
	for (const [view, table] of [
		["code", ".tree"],
		["pairs", ".pairs"],
		["data", ".data"],
	]) {
		assert.match(await text(`${view}&p=2`), /misses are not known/);
		const heads = await page.locator(`${table} [role=columnheader]`).allInnerTexts();
		const cells = await page.locator(`${table} .grid-row:not([hidden])`).first().locator(".cell").allInnerTexts();

		assert.equal(cells[heads.indexOf("misses")], "\u2013", view);
		assert.match(cells.at(-1), /\d/, `${view}: references are known`);
	}
	assert.doesNotMatch(await text("data&p=2"), /regular stride|walked with|none/);
	assert.match(await text("threads&p=2"), /thread/);
	assert.match(await text("diff"), /within \u00b1\d+ points/);
	assert.equal(await page.locator(".diff.totals td", { hasText: /better|worse/ }).count(), 0);
	await close(page);
});

test("profiles of all kinds, and addresses that somebody made up", async () => {
	for (const file of ["others.html", "objects.html"]) {
		const page = await open(file);
		const { length } = documentOfFile(file).profiles;

		for (let p = 0; p < length; p++)
			for (const view of VIEWS) {
				await page.evaluate((fragment) => (location.hash = fragment), `#${view}&p=${p}`);
				await settle(page);
				assert.ok((await page.locator("main").innerText()).trim().length > 20, `${file} ${p} ${view}`);
				await shoot(page, `${file}-${p}-${view}`);
			}
		await close(page);
	}
	const page = await open("demo.html", "#nonsense&p=99&cache=what&level=L9&sort=-x&by=y&sel=z:1&q=%00%zz");

	for (const fragment of [
		"#code&sel=line:99999",
		"#code&by=object&sel=spot:9.9999",
		"#code&by=context&sel=context:99999",
		"#code&sel=object:99999&by=loop",
		"#pairs&sel=pair:99999&sort=distance",
		"#data&sel=object:99999&q=nothing-has-this-name",
		"#code&q=nothing-has-this-name",
		"#overview&cache=L1=64,L2=1G/3",
		"#diff&with=7",
		"#__proto__&constructor=1",
		"#code&level=DTLB&cache=L1=1K,DTLB=4e@4K",
	]) {
		await page.evaluate((next) => (location.hash = next), fragment);
		await settle(page);
		assert.ok((await page.locator("main").innerText()).trim().length > 20, fragment);
	}
	await close(page);
});

test("hostile names are text", async () => {
	const page = await open("hostile.html");
	let text = "";

	page.on("dialog", () => page.complaints.push("a dialog"));
	for (const view of VIEWS) {
		await page.evaluate((fragment) => (location.hash = fragment), `#${view}`);
		await settle(page);
		text += await page.locator("body").innerText();
		assert.equal(
			await page.evaluate(
				() => window.broken ?? document.querySelectorAll("main script, main img, main iframe, main b").length,
			),
			0,
		);
	}
	assert.ok(text.includes("<script>window.broken=1</script>"));
	assert.ok(text.includes("</script><img src=x onerror=window.broken=1>"));
	assert.ok(text.includes("⟨U+202E⟩") && text.includes("␛"));
	assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u001b]/);
	await close(page);
	assert.doesNotMatch(
		readFileSync("hostile.html", "latin1").split('id="data"')[1].split("</script>")[0],
		/[<&]/,
	);
});

test("the policy forbids what the page does not need", async () => {
	const page = await open("demo.html");

	await page.evaluate(() => {
		const script = document.createElement("script");

		script.textContent = "window.broken = 1";
		document.body.append(script);
		const image = document.createElement("img");

		image.src = "http://127.0.0.1:9/x.png";
		document.body.append(image);
	});
	await settle(page);
	assert.equal(await page.evaluate(() => window.broken ?? 0), 0);
	assert.equal(
		await page.evaluate(() =>
			fetch("http://127.0.0.1:9/").then(
				() => 1,
				() => 0,
			),
		),
		0,
	);
	assert.ok(
		page.complaints.length >= 2 &&
			page.complaints.every((text) => /Content.Security.Policy|^asks for http:..127/i.test(text)),
		page.complaints.join("\n"),
	);
	await page.context().close();
});
