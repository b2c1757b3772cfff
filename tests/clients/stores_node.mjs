// The openai package's files, vector stores and responses, with the helpers that wait.

import OpenAI, { toFile } from 'openai';
import { ANSWER, QUESTION, check, places } from './checks.mjs';

const root = places.plain.base.replace('/api/public/v1', '');
const api = new OpenAI({ baseURL: `${root}/openai/v1`, apiKey: places.manager.key });
const text = '# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase.\n';
const file = await api.files.create({ file: await toFile(Buffer.from(text), 'warranty.md'), purpose: 'assistants' });
check('upload', file.status === 'processed' && file.filename === 'warranty.md');
const store = await api.vectorStores.create({ name: 'Manuals' });
const done = await api.vectorStores.files.createAndPoll(store.id, { file_id: file.id, attributes: { year: 2021 } });
check('create and poll', done.status === 'completed' && done.id === file.id);
const boats = await toFile(Buffer.from('# Boats\n\nThe boat is blue.\n'), 'boats.md');
const batch = await api.vectorStores.fileBatches.uploadAndPoll(store.id, { files: [boats] });
check('upload batch and poll', batch.status === 'completed' && batch.file_counts.completed === 1);
const found = await api.vectorStores.search(store.id, { query: QUESTION, filters: { type: 'eq', key: 'year', value: 2021 } });
check('search with filters', found.data[0].file_id === file.id && found.data[0].content[0].text.includes(ANSWER));
const tools = [{ type: 'file_search', vector_store_ids: [store.id] }];
const answer = await api.responses.create({ model: 'quire', input: QUESTION, tools, include: ['file_search_call.results'] });
const citation = answer.output[1].content[0].annotations[0];
check('response with citations', answer.output_text.includes(ANSWER) && citation.file_id === file.id);
let said = '';
for await (const event of await api.responses.create({ model: 'quire', input: QUESTION, tools, stream: true })) {
  if (event.type === 'response.output_text.delta') said += event.delta;
}
check('streamed response', said.includes(ANSWER));
const vectors = await api.embeddings.create({ model: 'quire', input: 'one' });
check('embeddings', vectors.data[0].embedding.length > 100);
check('delete', (await api.files.delete(file.id)).deleted && (await api.vectorStores.delete(store.id)).deleted);
