import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { FindingInfo } from "../../src/entries/client.ts";
import { Button } from "../parts/Button.tsx";
import { checked } from "./check.ts";
import { changeDraft, draft } from "./draft.ts";
import { withSuggestion } from "./plan-text.ts";

/** So many are shown, and so many more on each request: a text may have ten thousand. */
const STEP = 100;

/** What is wrong with the text; each finding leads to its line. */
export function Findings(props: { readonly goTo: (finding: FindingInfo) => void }): JSX.Element {
  const count = useSignal(STEP);
  const found = checked.value;
  const findings = found.state === "checked" ? found.report.findings : [];
  const shown = findings.slice(0, count.value);
  return (
    <>
      <h2 id="plan-findings-title" class={findings.length === 0 ? "visually-hidden" : undefined}>
        Findings
      </h2>
      {findings.length === 0 ? null : (
        <ol class="findings">
          {shown.map((finding, index) => (
            <li key={index} class={`finding ${finding.severity}`}>
              <Finding finding={finding} goTo={props.goTo} />
            </li>
          ))}
        </ol>
      )}
      {shown.length < findings.length ? (
        <Button onClick={() => (count.value += STEP)}>
          Show {Math.min(STEP, findings.length - shown.length)} more of{" "}
          {findings.length.toLocaleString("en")}
        </Button>
      ) : null}
    </>
  );
}

function Finding(props: {
  readonly finding: FindingInfo;
  readonly goTo: (finding: FindingInfo) => void;
}): JSX.Element {
  const { finding, goTo } = props;
  const { severity, line, column, message, code, suggestion } = finding;
  const corrected = suggestion === undefined ? null : withSuggestion(draft.value.text, finding);
  return (
    <>
      <button type="button" class="finding-line" onClick={() => goTo(finding)}>
        <span class={`badge ${severity === "error" ? "problem" : "warning"}`}>{severity}</span>{" "}
        <span class="finding-place">
          line {line}
          <span class="visually-hidden">, column {column}</span>
        </span>{" "}
        <span class="finding-message">
          <bdi>{message}</bdi>
        </span>{" "}
        <code>{code}</code>
      </button>
      {corrected === null ? null : (
        <Button
          onClick={() => {
            changeDraft({ ...draft.value, text: corrected });
            goTo(finding);
          }}
        >
          Use <code>{suggestion}</code>
        </Button>
      )}
    </>
  );
}
