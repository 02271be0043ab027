// Takes a picture of the top of a page: node picture.mjs CHROMIUM PAGE PNG
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const [chromium, page, png] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const tab = await browser.newPage();
await tab.setViewport({ width: 960, height: 970 });
await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
await tab.goto(pathToFileURL(page).href, { waitUntil: 'load' });
await tab.screenshot({ path: png });
await browser.close();
