import { QuireError, waitBeforeRetry } from './errors.js';
import type { Answer, Box, Document, File, Message, Question, Receipt, SearchOptions, SearchResult, UploadOptions } from './objects.js';
import { fetchTrusting } from './trusting.js';

export * from './objects.js';
export { QuireError } from './errors.js';

const BASE = '/api/public/v1';

export interface Settings {
  /** Address of the server; QUIRE_URL if left out. */
  url?: string;
  /** API key; QUIRE_API_KEY if left out. */
  apiKey?: string;
  /** A certificate file to trust, in Node; QUIRE_CA if left out. */
  ca?: string;
  /** Milliseconds that one try may take to be answered. */
  timeout?: number;
  /** How often a request is sent again. */
  maxRetries?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

interface Call { method: string; path: string; query?: Record<string, unknown>; json?: unknown; form?: () => FormData }

const environment = (name: string): string | undefined => (typeof process === 'undefined' ? undefined : process.env[name]);
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** A quire server. */
export class Quire {
  readonly #settings: Settings;
  readonly #base: string;
  readonly #key: string;
  #fetch?: Promise<typeof fetch>;

  constructor(settings: Settings = {}) {
    const url = (settings.url ?? environment('QUIRE_URL') ?? 'https://127.0.0.1:8443').trim().replace(/\/+$/, '');
    if (!url.startsWith('https://')) throw new TypeError('quire is reached over https:// only');
    const key = settings.apiKey ?? environment('QUIRE_API_KEY');
    if (!key) throw new TypeError('no API key: pass { apiKey } or set QUIRE_API_KEY');
    this.#settings = settings;
    this.#base = url.endsWith(BASE) ? url : url + BASE;
    this.#key = key;
  }

  /** The same server, trusted by this certificate; in Node. */
  withCa(ca: string): Quire {
    return new Quire({ ...this.#settings, url: this.#base, apiKey: this.#key, ca, fetch: undefined });
  }

  /** Whether the key works; also the version, the limits and the units. */
  check(): Promise<Record<string, unknown>> {
    return this.#data({ method: 'GET', path: '/check' });
  }

  async boxes(): Promise<Box[]> {
    return (await this.#data<{ boxes: Box[] }>({ method: 'GET', path: '/boxes' })).boxes;
  }

  createBox(name: string): Promise<Box> {
    return this.#data({ method: 'POST', path: '/boxes', json: { name } });
  }

  deleteBox(boxId: string): Promise<Receipt> {
    return this.#data({ method: 'DELETE', path: `/boxes/${boxId}` });
  }

  /** Every file of a box, page after page; `status`, `tags`, `query` and `sort` as the API has them. */
  files(boxId: string, filters: Record<string, unknown> = {}): AsyncGenerator<File> {
    return this.#pages<File>(`/boxes/${boxId}/files`, 'files', filters);
  }

  file(fileId: string): Promise<File> {
    return this.#data({ method: 'GET', path: `/files/${fileId}` });
  }

  /** Uploads a file by its path (in Node), or a Blob with a name. The same `externalId` again replaces the content. */
  async upload(boxId: string, content: string | Blob, options: UploadOptions = {}): Promise<File> {
    let name = options.name;
    let blob: Blob;
    if (typeof content === 'string') {
      const [fs, path] = await Promise.all([import('node:fs/promises'), import('node:path')]);
      blob = new Blob([new Uint8Array(await fs.readFile(content))]);
      name ??= path.basename(content);
    } else {
      blob = content;
    }
    if (!name) throw new TypeError('a Blob needs a name');
    const form = () => {
      const form = new FormData();
      if (options.metadata) form.append('metadata', JSON.stringify(options.metadata));
      if (options.tags) form.append('tags', JSON.stringify(options.tags));
      if (options.externalId) form.append('externalId', options.externalId);
      form.append('file', blob, name);
      return form;
    };
    return this.#data({ method: 'POST', path: `/boxes/${boxId}/files`, form });
  }

  /** Waits until a file has been processed, well or not. */
  async wait(fileId: string, timeout = 600_000): Promise<File> {
    for (const end = Date.now() + timeout; ; await sleep(1_000)) {
      const file = await this.file(fileId);
      if (file.status !== 'queued' && file.status !== 'processing') return file;
      if (Date.now() > end) throw new Error(`${file.name} is still ${file.status} after ${timeout} ms`);
    }
  }

  changeFile(fileId: string, changes: Record<string, unknown>): Promise<File> {
    return this.#data({ method: 'PATCH', path: `/files/${fileId}`, json: changes });
  }

  deleteFile(fileId: string): Promise<Receipt> {
    return this.#data({ method: 'DELETE', path: `/files/${fileId}` });
  }

  /** Searches a box, or several. */
  async search(box: string | string[], query: string, options: SearchOptions = {}): Promise<SearchResult> {
    const call = typeof box === 'string'
      ? { method: 'POST', path: `/boxes/${box}/retrieve-documents`, json: { query, ...options } }
      : { method: 'POST', path: '/retrieve-documents', json: { boxes: box, query, ...options } };
    const { documents, usage } = await this.#data<any>(call);
    return { query: documents[0].query, hits: documents[0].documents, usage };
  }

  /** Whole documents, or some pages of them, such as "1-3,7". */
  async documents(boxId: string, sources: string[], pages?: string): Promise<Document[]> {
    const path = `/boxes/${boxId}/retrieve-full-documents`;
    return (await this.#data<{ documents: Document[] }>({ method: 'POST', path, json: { sources, pages } })).documents;
  }

  /** Answers a question, or the last one of a conversation, from the documents of a box. */
  async ask(boxId: string, question: string | Message[], options: Record<string, unknown> = {}): Promise<Answer> {
    const whole = await (await this.#respond(chat(boxId, question, options))).json();
    return { id: whole.id, text: whole.choices[0].message.content, citations: whole.citations, usage: whole.usage };
  }

  /** The same piece by piece, as it is made. */
  async *stream(boxId: string, question: string | Message[], options: Record<string, unknown> = {}): AsyncGenerator<string> {
    const response = await this.#respond(chat(boxId, question, { ...options, stream: true }));
    let rest = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const piece = delta(line);
        if (piece) yield piece;
      }
    }
  }

  /** Says whether an answer helped: 1 or -1. */
  async rate(answerId: string, rating: 1 | -1, comment?: string): Promise<void> {
    await this.#data({ method: 'POST', path: '/feedback', json: { id: answerId, rating, comment } });
  }

  /** Questions that a box did not answer well; `outcome` and `since` as the API has them. */
  questions(boxId: string, filters: Record<string, unknown> = {}): AsyncGenerator<Question> {
    return this.#pages<Question>(`/boxes/${boxId}/questions`, 'questions', filters);
  }

  async *#pages<T>(path: string, name: string, filters: Record<string, unknown>): AsyncGenerator<T> {
    let cursor: string | undefined;
    do {
      const page: any = await this.#data({ method: 'GET', path, query: { limit: 200, ...filters, cursor } });
      yield* page[name] as T[];
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  async #data<T>(call: Call): Promise<T> {
    return (await (await this.#respond(call)).json()).data;
  }

  async #respond(call: Call): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#key}` };
    // The same for every try, so that a request whose answer was lost is not done twice.
    if (call.method === 'POST') headers['Idempotency-Key'] = crypto.randomUUID();
    if (call.json !== undefined) headers['Content-Type'] = 'application/json';
    const query = Object.entries(call.query ?? {}).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(query.map(([name, value]) => [name, String(value)] as [string, string])).toString();
    const url = this.#base + call.path + (search ? `?${search}` : '');
    for (let tries = 0; ; tries++) {
      let response: Response | undefined;
      let failure: QuireError;
      try {
        response = await this.#send(url, { method: call.method, headers, body: call.form?.() ?? body(call.json) });
        if (response.ok) return response;
        const answer: any = await response.json().catch(() => ({}));
        failure = new QuireError(response.status, answer.error ?? { request_id: response.headers.get('x-request-id') });
      } catch (cause: any) {
        const why = cause?.cause?.message ?? cause?.message ?? cause;
        failure = new QuireError(0, { message: `the server cannot be reached: ${why}`, reason: 'unreachable' });
      }
      const wait = waitBeforeRetry(response, tries);
      if (wait === undefined || tries >= (this.#settings.maxRetries ?? 4)) throw failure;
      await sleep(wait);
    }
  }

  /** A stream may take as long as it likes; only its beginning is waited for. */
  async #send(url: string, init: RequestInit): Promise<Response> {
    const ca = this.#settings.ca ?? environment('QUIRE_CA');
    this.#fetch ??= this.#settings.fetch || !ca ? Promise.resolve(this.#settings.fetch ?? fetch) : fetchTrusting(ca);
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(new Error('it took too long to answer')), this.#settings.timeout ?? 120_000);
    try {
      return await (await this.#fetch)(url, { ...init, signal: ended.signal });
    } finally {
      clearTimeout(timer);
    }
  }
}

const body = (json: unknown): string | undefined => (json === undefined ? undefined : JSON.stringify(json));

function chat(boxId: string, question: string | Message[], options: Record<string, unknown>): Call {
  const messages = typeof question === 'string' ? [{ role: 'user', content: question }] : question;
  return { method: 'POST', path: `/boxes/${boxId}/chat/completions`, json: { messages, ...options } };
}

/** The text of one frame of a stream; nothing where it has none. */
function delta(line: string): string | undefined {
  if (!line.startsWith('data: ') || line.startsWith('data: [DONE]')) return undefined;
  const frame = JSON.parse(line.slice('data: '.length));
  if (frame.success === false) throw new QuireError(200, frame.error);
  return frame.choices?.[0]?.delta?.content;
}
