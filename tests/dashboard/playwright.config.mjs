import { defineConfig } from "@playwright/test";

const desktop = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const screenshots = Boolean(process.env.QUIRE_SCREENSHOTS);

// Width and colours do not depend on each other, so two looks show both widths and both schemes. The phone has what people do most there:
// the way to a first answer, a search, a page and a conversation; --every-look shows everything in all four.
const onPhone = /first answer|search is narrowed|page is turned|conversation is kept/;
const everyLook = Boolean(process.env.QUIRE_EVERY_LOOK);
const everywhere = [
  { name: "desktop-light", use: { ...desktop, colorScheme: "light" } },
  { name: "desktop-dark", use: { ...desktop, colorScheme: "dark" } },
  { name: "phone-light", use: { ...phone, colorScheme: "light" } },
  { name: "phone-dark", use: { ...phone, colorScheme: "dark" } },
].filter(({ name }) => everyLook || name === "desktop-light" || name === "phone-dark").map((project) => ({
  ...project,
  testMatch: "*.spec.mjs",
  grep: everyLook || project.name === "desktop-light" ? /./ : onPhone,
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
  // As with the other tests: a walk that fails is tried once more, and is then listed as flaky.
  retries: everyLook ? 0 : 1,
  reporter: [["list"]],
  outputDir: process.env.QUIRE_RESULTS,
  use: {
    baseURL: process.env.QUIRE_ADDRESS,
    ignoreHTTPSErrors: true,
    // Recording what a page does takes as long as doing it: `-- --trace retain-on-failure` does when a walk fails and nobody sees why.
    trace: "off",
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
