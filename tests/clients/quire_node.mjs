// quire-sdk, built from sdk/typescript and installed as a package: every method, and the sample of its README.

import { readFileSync, writeFileSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Quire, QuireError } from 'quire-sdk';
import { ANSWER, QUESTION, check, places, raises } from './checks.mjs';

const ca = process.env.NODE_EXTRA_CA_CERTS;
const client = (place, more = {}) => new Quire({ url: place.base, apiKey: place.key, ...more });
const all = async (list) => { const found = []; for await (const one of list) found.push(one); return found; };

const quire = client(places.manager);
check('check', (await quire.check()).message === 'ok');
const box = (await quire.createBox('SDK')).boxId;
check('boxes', (await quire.boxes()).some((known) => known.boxId === box));
const folder = mkdtempSync(join(tmpdir(), 'quire-sdk-'));
writeFileSync(join(folder, 'machine.md'), `# Warranty\n\nThe warranty of the machine lasts ${ANSWER}.\n`);
const file = await quire.upload(box, join(folder, 'machine.md'), { tags: ['manual'], metadata: { year: 2026 }, externalId: 'm' });
const other = await quire.upload(box, new Blob(['# Repairs\n\nRepairs take three weeks.\n']), { name: 'repairs.md' });
check('upload and wait', (await quire.wait(file.fileId)).status === 'ready' && (await quire.wait(other.fileId)).status === 'ready');
check('files of all pages', (await all(quire.files(box, { limit: 1, sort: 'name' }))).map((one) => one.name).join() === 'machine.md,repairs.md');
check('change', (await quire.changeFile(file.fileId, { externalId: 'n' })).externalId === 'n');
const found = await quire.search(box, QUESTION, { top_k: 1, filter: { year: 2026 } });
check('search', found.hits[0].text.includes(ANSWER) && found.usage.intelligence_units_consumed >= 1);
check('search in several boxes', (await quire.search([box, places.plain.box], QUESTION)).hits[0].text.includes(ANSWER));
check('documents', (await quire.documents(box, [file.fileId], '1'))[0].pages[0].text.includes(ANSWER));
const answer = await quire.ask(box, QUESTION);
check('ask', answer.text.includes(ANSWER) && answer.citations[0].quote.includes(ANSWER));
check('stream', (await all(quire.stream(box, QUESTION))).join('').includes(ANSWER));
await quire.rate(answer.id, -1, 'It is three years now.');
check('feedback', (await all(quire.questions(box, { outcome: 'disliked' })))[0].comment === 'It is three years now.');
check('wrong key', await raises(() => client(places.wrong_key).check(), (e) => e instanceof QuireError && e.status === 401 && e.requestId));
check('quota exhausted', await raises(() => client(places.exhausted).search(places.plain.box, QUESTION), (e) => e.status === 402 && e.reason === 'units_exhausted'));
const limited = client(places.limited);
for (let n = 0; n < 5; n++) await limited.check();
check('rate limited, recovers', true);
check('unreachable', await raises(() => new Quire({ url: 'https://127.0.0.1:9', apiKey: 'x', maxRetries: 0 }).check(), (e) => e.status === 0));
check('mid-stream failure raises', await raises(() => all(client(places.breaking).stream(places.breaking.box, QUESTION)), (e) => e instanceof QuireError));
check('plain HTTP is not tried', await raises(async () => new Quire({ url: 'http://127.0.0.1', apiKey: 'x' }), (e) => e instanceof TypeError));
const trusting = client(places.manager).withCa(ca);
check('withCa', (await trusting.check()).message === 'ok' && (await all(trusting.stream(box, QUESTION))).join('').includes(ANSWER));
check('withCa, upload', (await trusting.upload(box, new Blob(['# More\n\nWords.\n']), { name: 'more.md' })).name === 'more.md');
check('delete', (await quire.deleteFile(other.fileId)).removed.originals === 1);
await quire.deleteBox(box);

const readme = readFileSync(process.env.QUIRE_SDK_README, 'utf8');
const sample = /```ts\n([\s\S]*?)```/.exec(readme)[1];
Object.assign(process.env, { QUIRE_URL: places.manager.base, QUIRE_API_KEY: places.manager.key, QUIRE_CA: ca });
writeFileSync(join(process.cwd(), 'warranty.md'), '# Warranty\n\nThe warranty of the kettle lasts two years.\n');
writeFileSync(join(process.cwd(), 'sample.mjs'), sample);
await import(join(process.cwd(), 'sample.mjs'));
check("the README's sample", true);
