// The dashboard in each of its languages: by the browser's wish, and by the choice of whoever signs in.

import { PASSWORD, expect, looksRight, makeBox, newcomer, samples, test } from "./support.mjs";

const LANGUAGES = {
  es: { email: "Correo electrónico", password: "Contraseña", signIn: "Iniciar sesión", boxes: "Cajas", files: "Archivos", drop: "Suelte aquí archivos o carpetas", ready: "Listo", uploaded: "1 de 1 subidos", search: "Buscar", passages: /pasaje/, profile: "Perfil", language: "Idioma de estas páginas", set: "Establecer idioma", saved: "Se guardó su perfil." },
  pt: { email: "Endereço de e-mail", password: "Senha", signIn: "Entrar", boxes: "Caixas", files: "Arquivos", drop: "Solte arquivos ou pastas aqui", ready: "Pronto", uploaded: "1 de 1 enviados", search: "Pesquisar", passages: /trecho/, profile: "Perfil", language: "Idioma destas páginas", set: "Definir idioma", saved: "Seu perfil foi salvo." },
  fr: { email: "Adresse e-mail", password: "Mot de passe", signIn: "Se connecter", boxes: "Boîtes", files: "Fichiers", drop: "Déposez ici des fichiers ou des dossiers", ready: "Prêt", uploaded: "1 sur 1 ajoutés", search: "Rechercher", passages: /passage/, profile: "Profil", language: "Langue de ces pages", set: "Définir la langue", saved: "Votre profil a été enregistré." },
  de: { email: "E-Mail-Adresse", password: "Passwort", signIn: "Anmelden", boxes: "Boxen", files: "Dateien", drop: "Dateien oder Ordner hier ablegen", ready: "Bereit", uploaded: "1 von 1 hochgeladen", search: "Suchen", passages: /Textstelle/, profile: "Profil", language: "Sprache dieser Seiten", set: "Sprache festlegen", saved: "Ihr Profil wurde gespeichert." },
};

/** A browser that asks for this language and nobody is signed in with. */
async function stranger(browser, info, locale) {
  const { viewport, colorScheme } = info.project.use;
  const context = await browser.newContext({ locale, viewport, colorScheme, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  return context.newPage();
}

for (const [code, said] of Object.entries(LANGUAGES)) {
  test(`in ${code}: signing in, a box and its files, a search, and another language`, async ({ browser, tag }, info) => {
    const email = `${code}-${tag}@example.org`;
    const english = await newcomer(browser, info, email);
    const box = await makeBox(english, `Box ${code}`);
    await english.context().close();

    const page = await stranger(browser, info, code);
    await page.goto("/sign-in");
    await expect(page.locator("html")).toHaveAttribute("lang", code);
    await looksRight(page, info, `sign-in in ${code}`);
    await page.getByLabel(said.email).fill(email);
    await page.getByLabel(said.password).fill(PASSWORD);
    await page.getByRole("button", { name: said.signIn, exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: said.boxes })).toBeVisible();
    await looksRight(page, info, `boxes in ${code}`);

    await page.goto(box);
    await expect(page.getByRole("link", { name: said.files, exact: true })).toBeVisible();
    await expect(page.getByText(said.drop)).toBeVisible();
    await page.locator("input[data-files]:not([webkitdirectory])").setInputFiles([samples("warranty.md")]);
    // The script speaks the same language, and so does what the server tells it while a file is read.
    await expect(page.locator("[data-summary]")).toContainText(said.uploaded);
    await expect(page.locator("[data-queue] .chip.ready")).toHaveText(said.ready);
    await looksRight(page, info, `files in ${code}`);
    await page.goto(`${box}/search`);
    await page.getByRole("searchbox").fill("warranty");
    await page.getByRole("button", { name: said.search, exact: true }).click();
    await expect(page.locator(".found .summary")).toContainText(said.passages);

    for (const path of ["/", "/account/notices"]) {
      await page.goto(path);
      await looksRight(page, info, `${path} in ${code}`);
    }
    await page.goto("/account/profile");
    await expect(page.getByRole("heading", { level: 1, name: said.profile })).toBeVisible();
    await looksRight(page, info, `profile in ${code}`);
    await page.getByLabel(said.language).selectOption("en");
    await page.getByRole("button", { name: said.set }).click();
    await expect(page.getByRole("status")).toHaveText("Your profile has been saved.");
    await expect(page.locator("html")).toHaveAttribute("lang", "en");
    await page.getByLabel("Language of these pages").selectOption(code);
    await page.getByRole("button", { name: "Set language" }).click();
    await expect(page.getByRole("status")).toHaveText(said.saved);
    await page.context().close();

    // What was chosen goes along to every browser, once they are signed in there.
    const elsewhere = await stranger(browser, info, "en-US");
    await elsewhere.goto("/sign-in");
    await elsewhere.getByLabel("E-mail address").fill(email);
    await elsewhere.getByLabel("Password").fill(PASSWORD);
    await elsewhere.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(elsewhere.getByRole("heading", { level: 1, name: said.boxes })).toBeVisible();
    await elsewhere.context().close();
  });
}
