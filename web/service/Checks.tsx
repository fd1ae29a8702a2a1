import type { JSX } from "preact";

import { Button } from "../parts/Button.tsx";
import { Notice } from "../parts/Notice.tsx";
import { doctor, readChecks } from "./watch.ts";

const ORDER = { failed: 0, warning: 1, ok: 2 } as const;
const CLASSES = { failed: "problem", warning: "warning", ok: "good" } as const;

/** What `reprise doctor` finds, with the next step; what is wrong comes first. */
export function Checks(): JSX.Element {
  const { value, problem, isReading } = doctor.value;
  const checks = (value?.checks ?? []).toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
  return (
    <section aria-labelledby="service-checks">
      <div class="section-head">
        <h2 id="service-checks">Checks</h2>
        <Button disabled={isReading} onClick={() => void readChecks()}>
          Check again
        </Button>
      </div>
      {problem === null ? null : <Notice kind="warning">{problem}</Notice>}
      {value === null && problem === null ? <p class="muted">Checking …</p> : null}
      <ul class="checks">
        {checks.map(({ name, status, sentence }, index) => (
          <li key={index}>
            <span class={`badge ${CLASSES[status]}`}>{status}</span>{" "}
            <span class="check-name">{name}</span> <bdi>{sentence}</bdi>
          </li>
        ))}
      </ul>
      <p class="muted">
        <code>reprise doctor</code> checks the files of the database and the sandbox, too.
      </p>
    </section>
  );
}
