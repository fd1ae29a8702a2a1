import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { adoptStyle } from "../adopt-style.ts";
import { isOwner } from "../api.ts";
import { pageTitle } from "../parts/attention.ts";
import { Link } from "../parts/Link.tsx";
import { Notice } from "../parts/Notice.tsx";
import { Time } from "../parts/Time.tsx";
import { AccessList } from "./AccessList.tsx";
import { Checks } from "./Checks.tsx";
import { Metrics } from "./Metrics.tsx";
import { Nodes } from "./Nodes.tsx";
import { Queue } from "./Queue.tsx";
import { valueOf } from "./samples.ts";
import { nodes, readAt, samples, watchService } from "./watch.ts";
import { style } from "./service.css";

adoptStyle(style);

/** What runs, what waits, and what should be done about it. */
export function Service(): JSX.Element {
  useEffect(() => {
    pageTitle.value = "Service";
    return watchService();
  }, []);
  return (
    <div class="service">
      <h1>Service</h1>
      <About />
      <p>
        <Link to="/costs">What it cost</Link>
      </p>
      {nodes.value.problem === null ? null : (
        <Notice kind="warning">
          {nodes.value.problem}
          {readAt.value === null ? null : (
            <span>
              What is shown is of <Time at={new Date(readAt.value).toISOString()} />.
            </span>
          )}
        </Notice>
      )}
      <Checks />
      <Queue />
      <Nodes />
      <Metrics />
      {isOwner.value ? <AccessList /> : null}
    </div>
  );
}

function About(): JSX.Element | null {
  const sample = samples.value.value?.at(-1);
  const build = sample?.series.find(({ name }) => name === "reprise_build_info");
  const started = sample === undefined ? null : valueOf(sample, "process_start_time_seconds");
  return build === undefined || started === null ? null : (
    <p class="muted">
      Version {build.labels["version"]}, running since{" "}
      <Time at={new Date(started * 1000).toISOString()} />.
    </p>
  );
}
