import { defineConfig } from "@playwright/test";

const desktop = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const screenshots = Boolean(process.env.QUIRE_SCREENSHOTS);

// Width and colours do not depend on each other, so two looks show both widths and both schemes. The phone has the pages that people use
// there: boxes, search, reading and chat; --every-look shows everything in all four.
const everyLook = Boolean(process.env.QUIRE_EVERY_LOOK);
const everywhere = [
  { name: "desktop-light", use: { ...desktop, colorScheme: "light" } },
  { name: "desktop-dark", use: { ...desktop, colorScheme: "dark" } },
  { name: "phone-light", use: { ...phone, colorScheme: "light" } },
  { name: "phone-dark", use: { ...phone, colorScheme: "dark" } },
].filter(({ name }) => everyLook || name === "desktop-light" || name === "phone-dark").map((project) => ({
  ...project,
  testMatch: everyLook || project.name === "desktop-light" ? "*.spec.mjs" : /(boxes|finding|reading|talk)\.spec/,
  testIgnore: /(setup|screenshots)\.spec/,
  dependencies: ["setup"],
}));

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.mjs",
  workers: 1,
  // Half a minute on a quiet machine; hosts can be several times slower, and none of this measures time.
  timeout: 240_000,
  expect: { timeout: 45_000 },
  reporter: [["list"]],
  outputDir: "results",
  use: {
    baseURL: process.env.QUIRE_ADDRESS,
    ignoreHTTPSErrors: true,
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM,
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
  },
  projects: [
    { name: "setup", testMatch: "setup.spec.mjs", use: desktop },
    ...(screenshots
      ? [{ name: "screenshots", testMatch: "screenshots.spec.mjs", dependencies: ["setup"], use: { viewport: { width: 1160, height: 720 } } }]
      : everywhere),
  ],
});
