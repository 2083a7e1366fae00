// SPDX-License-Identifier: GPL-2.0-or-later
// Binomial tails, as src/model/binomial.c computes them: points by Loader's saddle-point form, tails
// by summing from the nearer end, the Edgeworth series for large variances.

const SUMMED = 4096;
const STIRLING_REST = [
	0, 0.0810614667953272582, 0.0413406959554092941, 0.0276779256849983391, 0.0207906721037650931,
	0.0166446911898211922, 0.013876128823070748, 0.0118967099458917701, 0.0104112652619720965,
	0.00925546218271273292, 0.00833056343336287126, 0.00757367548795184079, 0.00694284010720952987,
	0.00640899418800420707, 0.00595137011275884774, 0.00555473355196280137,
];

function stirlingRest(n) {
	const square = n * n;

	if (n < 16) return STIRLING_REST[n];
	return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n;
}

// x ln(x/mean) + mean - x without cancellation near x = mean.
function deviance(x, mean) {
	const difference = x - mean;

	if (Math.abs(difference) >= 0.1 * (x + mean)) return x * Math.log(x / mean) - difference;
	const v = difference / (x + mean);
	let sum = difference * v;
	let term = 2 * x * v;

	for (let i = 3; i < 1000; i += 2) {
		term *= v * v;
		const next = sum + term / i;

		if (next === sum) break;
		sum = next;
	}
	return sum;
}

export function binomialPoint(n, p, k) {
	if (k < 0 || k > n) return 0;
	if (p <= 0 || p >= 1) return k === (p <= 0 ? 0 : n) ? 1 : 0;
	if (k === 0) return Math.exp(n * Math.log1p(-p));
	if (k === n) return Math.exp(n * Math.log(p));
	const exponent =
		stirlingRest(n) -
		stirlingRest(k) -
		stirlingRest(n - k) -
		deviance(k, n * p) -
		deviance(n - k, n * (1 - p));

	return Math.exp(exponent) * Math.sqrt(n / (2 * Math.PI * k * (n - k)));
}

function sumTail(n, p, k, step) {
	const odds = p / (1 - p);
	let term = binomialPoint(n, p, k);
	let sum = 0;

	while (term > (sum * Number.EPSILON) / 8 && term > 2.2250738585072014e-308) {
		sum += term;
		term *= step > 0 ? ((n - k) / (k + 1)) * odds : k / ((n - k + 1) * odds);
		k += step;
	}
	return sum;
}

// By its series up to 2.5, by its continued fraction beyond.
export function erfc(x) {
	if (x < 0) return 2 - erfc(-x);
	if (x < 2.5) {
		let term = x;
		let sum = x;

		for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
			term *= (-x * x) / n;
			sum += term / (2 * n + 1);
		}
		return 1 - (2 / Math.sqrt(Math.PI)) * sum;
	}
	let fraction = 0;

	for (let n = 120; n > 0; n--) fraction = n / 2 / (x + fraction);
	return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

function edgeworthAtLeast(n, p, k) {
	const sd = Math.sqrt(n * p * (1 - p));
	const z = (k - 0.5 - n * p) / sd;
	const skew = (1 - 2 * p) / sd;
	const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
	const tail = erfc(z / Math.SQRT2) / 2 + density * ((skew * (z * z - 1)) / 6 - z / (24 * sd * sd));

	return Math.min(1, Math.max(0, tail));
}

// P(X >= k) of X ~ Binomial(n, p).
export function binomialAtLeast(n, p, k) {
	if (k <= 0) return 1;
	if (k > n || p <= 0) return 0;
	if (p >= 1) return 1;
	if (n * p * (1 - p) > SUMMED) return edgeworthAtLeast(n, p, k);
	if (k > n * p) return Math.min(1, sumTail(n, p, k, 1));
	return Math.max(0, 1 - sumTail(n, p, k - 1, -1));
}
