// SPDX-License-Identifier: GPL-2.0-or-later
// What tests of the page in Chromium share: TOOLS names the directory that holds node_modules of
// web/package-lock.json, CHROMIUM the program.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

export const require = createRequire(`${resolve(process.env.TOOLS)}/`);
const { chromium } = require("playwright-core");
let browser;

before(async () => {
	const args = ["--disable-dev-shm-usage", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];

	browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser?.close());

export function address(file, fragment = "") {
	return `${pathToFileURL(resolve(file))}${fragment}`;
}

// A page that has drawn itself; whatever it complains of fails the test.
export async function open(file, fragment = "", options = {}) {
	return openAddress(address(file, fragment), options);
}

export async function openAddress(where, options = {}) {
	const { bypassCSP = false, ...rest } = options;
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP, ...rest });
	const page = await context.newPage();

	page.complaints = [];
	page.on(
		"console",
		(message) => ["error", "warning"].includes(message.type()) && page.complaints.push(message.text()),
	);
	page.on("pageerror", (error) => page.complaints.push(String(error.stack ?? error)));
	page.on(
		"request",
		(request) =>
			!/^(file|data):/.test(request.url()) &&
			request.url() !== where &&
			page.complaints.push(`asks for ${request.url()}`),
	);
	await page.goto(where);
	await isReady(page);
	return page;
}

export function isReady(page) {
	return page.waitForSelector("html[data-ready]", { timeout: 60000 });
}

export async function close(page) {
	assert.deepEqual(page.complaints, []);
	await page.context().close();
}

export async function shoot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

// Work that a click starts has ended when the next frame is drawn.
export function settle(page) {
	return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}
