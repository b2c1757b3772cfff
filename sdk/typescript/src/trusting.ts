/** `fetch` for Node that trusts one certificate: the built-in one can only be told by the environment, before the program starts. */
export async function fetchTrusting(ca: string): Promise<typeof fetch> {
  const [https, fs, { Readable }] = await Promise.all([import('node:https'), import('node:fs/promises'), import('node:stream')]);
  const agent = new https.Agent({ ca: await fs.readFile(ca), keepAlive: true });
  return async (input, init) => {
    // The built-in class turns every kind of body into bytes and headers.
    const request = new Request(input as any, init);
    const body = Buffer.from(await request.arrayBuffer());
    return new Promise<Response>((resolve, reject) => {
      const headers = { ...Object.fromEntries(request.headers), ...(body.length ? { 'content-length': String(body.length) } : {}) };
      const sent = https.request(request.url, { method: request.method, headers, agent, signal: init?.signal ?? undefined }, (answer) => {
        const status = answer.statusCode ?? 0;
        const told = new Headers();
        for (const [name, value] of Object.entries(answer.headers)) {
          if (value !== undefined) told.set(name, Array.isArray(value) ? value.join(', ') : value);
        }
        const empty = status === 204 || status === 304;
        resolve(new Response(empty ? null : (Readable.toWeb(answer) as any), { status, headers: told }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  };
}
