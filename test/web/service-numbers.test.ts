import { expect, it } from "vitest";

import { durationText, MEASURES, openExchanges } from "../../web/service/measures.ts";
import { readMetricsText } from "../../web/service/metrics-text.ts";
import {
  beforeOf,
  KEPT_MS,
  rateOf,
  type Sample,
  sampleOf,
  valueOf,
  withSample,
} from "../../web/service/samples.ts";
import { pathOf } from "../../web/service/small-line.ts";

const TEXT = `# HELP reprise_http_requests_total Requests.
# TYPE reprise_http_requests_total counter
reprise_http_requests_total{method="GET",route="/a,\\"b\\"}",status="200"} 10
reprise_http_requests_total{method="GET",route="/",status="503"} 2 1700000000000
reprise_http_request_duration_seconds_bucket{le="1"} 9
reprise_exchanges{state="queued"} 3
process_start_time_seconds 1700000000.5
odd{ 1
unknown NaN
endless +Inf
`;

function sample(at: number, process: string, total: number, at5xx = 0): Sample {
  const series = (status: string, value: number) => ({
    name: "reprise_http_requests_total",
    labels: { status },
    value,
  });
  return { at, process, series: [series("200", total), series("503", at5xx)] };
}

it("[PAGE-114] the text of the metrics is read line by line, and odd lines are left out", () => {
  expect(readMetricsText(TEXT).map(({ name, value }) => `${name} ${value}`)).toEqual([
    "reprise_http_requests_total 10",
    "reprise_http_requests_total 2",
    "reprise_http_request_duration_seconds_bucket 9",
    "reprise_exchanges 3",
    "process_start_time_seconds 1700000000.5",
  ]);
  expect(readMetricsText(TEXT)[0]?.labels).toEqual({
    method: "GET",
    route: '/a,"b"}',
    status: "200",
  });
  const read = sampleOf(TEXT, 5);
  expect(read).toMatchObject({ at: 5, process: " 1700000000.5" });
  expect(valueOf(read, "reprise_http_requests_total")).toBe(12);
  expect(valueOf(read, "reprise_http_requests_total", { status: "503" })).toBe(2);
  expect(valueOf(read, "reprise_streams_open")).toBeNull();
  expect(openExchanges(read)).toMatchObject({ queued: 3, running: null, oldestSeconds: null });
  expect(sampleOf("<html>", 1).series).toEqual([]);
});

it("[PAGE-114] a rate is of one process, whichever answered in between, and a restart is none", () => {
  const samples = [sample(0, "a", 100), sample(5000, "b", 7), sample(10_000, "a", 150, 1)];
  const [requests, , failed] = MEASURES;
  const measured = (of: typeof requests) =>
    samples.map((each, index) => of?.of(each, beforeOf(samples, index)));
  expect(measured(requests)).toEqual([null, null, 5.1]);
  expect(measured(failed)).toEqual([null, null, 6]);
  const count = ({ series }: Sample) => series[0]?.value ?? null;
  expect(rateOf(count, sample(5, "a", 0), sample(0, "a", 9))).toBe(0);
});

it("[PAGE-114] samples older than ten minutes are forgotten", () => {
  let kept: readonly Sample[] = [];
  for (let at = 0; at <= KEPT_MS * 2; at += 60_000) {
    kept = withSample(kept, sample(at, "a", at));
  }
  expect(kept.map(({ at }) => at / 60_000)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
});

it("[PAGE-114] numbers have their units", () => {
  const texts = MEASURES.map(({ text }) => text(0.25));
  expect(texts.slice(0, 3)).toEqual(["0.3 /s", "250 ms", "0.3 /min"]);
  expect([2, 90, 7200, 200_000].map(durationText)).toEqual(["2 s", "1 min", "2 h", "2 d"]);
});

it("[PAGE-114] a small line leads from 0 to the largest value, with a gap for what is not known", () => {
  const size = { width: 104, height: 24 };
  expect(pathOf([0, 5, 10], size)).toBe("M2.0 22.0L52.0 12.0L102.0 2.0");
  expect(pathOf([0, null, 10], size)).toBe("M2.0 22.0M102.0 2.0");
  expect(pathOf([0, 0], size)).toBe("M2.0 22.0L102.0 22.0");
  expect(pathOf([1, null], size)).toBe("");
});
