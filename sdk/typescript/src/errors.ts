/** The server refused a request, or could not be reached (then `status` is 0). */
export class QuireError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly param?: string;
  readonly requestId?: string;
  readonly retryAfter?: number;

  constructor(readonly status: number, error: Record<string, any>) {
    super(error.message ?? error.cause ?? `the server answered ${status}`);
    this.name = 'QuireError';
    this.code = error.code;
    this.reason = error.reason;
    this.param = error.param ?? undefined;
    this.requestId = error.request_id;
    this.retryAfter = error.retry_after;
  }
}

const AGAIN = new Set([429, 500, 502, 503, 504]);
/** Longer waits are for whoever calls to decide about. */
const LONGEST_WAIT_MS = 120_000;

/** How long to wait before another try, or nothing where that does not help. */
export function waitBeforeRetry(response: Response | undefined, tries: number): number | undefined {
  const usual = Math.min(8_000, 500 * 2 ** tries) * (0.75 + Math.random() / 2);
  if (!response) return usual;
  if (!AGAIN.has(response.status) || response.headers.get('x-should-retry') === 'false') return undefined;
  const number = (name: string, unit: number) => {
    const value = Number(response.headers.get(name) ?? NaN);
    return Number.isFinite(value) && value >= 0 ? value * unit : undefined;
  };
  const wanted = number('retry-after-ms', 1) ?? number('retry-after', 1_000);
  if (wanted === undefined) return usual;
  return wanted <= LONGEST_WAIT_MS ? wanted : undefined;
}
