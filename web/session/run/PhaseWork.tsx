import type { JSX } from "preact";

import type { RunPhase } from "../../../src/entries/client.ts";
import { Time } from "../../parts/Time.tsx";
import { plural, tookText } from "../call-text.ts";
import { commandText } from "./run-text.ts";

/** What a phase did last, and what Reprise ran to check it. */
export function PhaseWork({ phase }: { readonly phase: RunPhase }): JSX.Element {
  const { last_action: action, checked } = phase;
  return (
    <>
      {action === null ? null : (
        <div class="muted run-phase-action">
          {action.kind === "call" ? "Last call: " : "Last message: "}
          {action.kind === "call" ? (
            <bdi>
              <code>{action.text}</code>
            </bdi>
          ) : (
            <bdi class="run-phase-message">{action.text}</bdi>
          )}{" "}
          <Time at={action.at} />
        </div>
      )}
      {checked === null ? null : <Checks checked={checked} />}
    </>
  );
}

type Checked = NonNullable<RunPhase["checked"]>;

function Checks({ checked }: { readonly checked: Checked }): JSX.Element {
  const { attempt, corrections, commands } = checked;
  const failed = commands.find(({ failure }) => failure !== null);
  const after = corrections === 0 ? "" : `, after ${plural(corrections, "correction")}`;
  const what =
    failed === undefined ? `${plural(commands.length, "check")} passed` : "A check did not pass";
  return (
    <details class="run-checks" open={failed !== undefined}>
      <summary>
        {what} in attempt {attempt}
        {after}
      </summary>
      <ul>
        {commands.map(({ argv, code, ms, failure }, index) => (
          <li key={index} class={failure === null ? "tone-good" : "tone-bad"}>
            <span class="phase-word">{failure === null ? "passed" : "failed"}</span>{" "}
            <bdi>
              <code>{commandText(argv)}</code>
            </bdi>{" "}
            · {exitText(code, failure)} · {tookText(ms)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function exitText(code: number | null, failure: string | null): string {
  const exit = code === null ? "no exit code" : `exit code ${code}`;
  return failure === null || failure === exit ? exit : `${exit}, ${failure}`;
}
