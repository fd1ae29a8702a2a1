import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/CopyButton.tsx";
import { lazy } from "../../parts/Lazy.tsx";
import { useCall } from "../../parts/use-call.tsx";

const Markdown = lazy(async () => (await import("../written.tsx")).WholeText);

/** The report of a run, as Markdown for a pull request: read when somebody opens it. */
export function Report({ id }: { readonly id: string }): JSX.Element {
  const text = useSignal<string | null>(null);
  const { problem, isBusy, run } = useCall();
  const read = (): void =>
    run(async () => {
      text.value = await client.reportPlanRun(id);
    });
  const isOpen = text.value !== null;
  return (
    <section class="run-report" aria-labelledby="run-report">
      <h2 id="run-report" class="part-title">
        Report
      </h2>
      <div class="run-buttons">
        <Button disabled={isBusy} onClick={read}>
          {isOpen ? "Read it again" : "Show the report"}
        </Button>
        {text.value === null ? null : (
          <>
            <CopyButton text={text.value} label="Copy the report as Markdown" />
            <Button kind="quiet" onClick={() => void (text.value = null)}>
              Close
            </Button>
          </>
        )}
      </div>
      {problem}
      {text.value === null ? null : (
        <article class="run-report-text" aria-label="The report">
          <Markdown key={text.value} text={text.value} />
        </article>
      )}
    </section>
  );
}
