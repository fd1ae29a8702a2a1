import { once } from "node:events";
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** How long requests for small answers took, in milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly longest: number;
  /** The highest 95th percentile of a fifth of the time. */
  readonly noise: number;
}

export interface ProbeOptions {
  readonly url: string;
  readonly token: string;
  /** A session with a few short messages. */
  readonly session: string;
}

/** Between two requests. */
const PAUSE_MS = 5;
const PARTS = 5;

/** Reads and writes what is small, one request after another for so many milliseconds. */
export async function measureOthers(options: ProbeOptions, ms: number): Promise<Latencies> {
  const requests = requestsOf(options);
  const end = performance.now() + ms;
  const times: number[] = [];
  for (let index = 0; performance.now() < end; index += 1) {
    const begun = performance.now();
    const request = requests[index % requests.length];
    if (request !== undefined) {
      await ask(request);
    }
    times.push(performance.now() - begun);
    await sleep(PAUSE_MS);
  }
  return latenciesOf(times);
}

interface SmallRequest extends http.RequestOptions {
  readonly url: string;
  readonly body?: string;
}

function requestsOf({ url, token, session }: ProbeOptions): readonly SmallRequest[] {
  const path = `${url}/api/sessions/${session}`;
  const headers = { authorization: `Bearer ${token}` };
  return [
    { method: "GET", url: `${url}/api/sessions?limit=1`, headers },
    { method: "GET", url: `${path}?messages=false`, headers },
    { method: "GET", url: `${path}/messages?limit=1`, headers },
    {
      method: "POST",
      url: `${path}/messages`,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ content: "some words" }),
    },
  ];
}

/** Each on a new connection: one that is kept would not notice that others wait to be accepted. */
async function ask({ url, body, ...options }: SmallRequest): Promise<void> {
  const request = http.request(url, { ...options, agent: false }).end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200 && response.statusCode !== 201) {
    throw new Error(`a small request got ${response.statusCode}`);
  }
}

function latenciesOf(times: readonly number[]): Latencies {
  const [median, p95, longest] = [0.5, 0.95, 1].map((part) => quantile(times, part));
  const length = Math.ceil(times.length / PARTS);
  const parts = Array.from({ length: PARTS }, (_, at) => times.slice(at * length).slice(0, length));
  const noise = Math.max(...parts.map((part) => quantile(part, 0.95)));
  return { count: times.length, median: median ?? 0, p95: p95 ?? 0, longest: longest ?? 0, noise };
}

function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}
