import type { JSX } from "preact";

import { Button } from "../parts/Button.tsx";
import { plural } from "./call-text.ts";
import type { SessionModel } from "./model.ts";

/** Whether the messages are those of the agent's checkpoints, if somebody asks. */
export function Verify({ model }: { readonly model: SessionModel }): JSX.Element {
  const found = model.verification.value;
  return (
    <div class="verify" aria-live="polite">
      <Button disabled={found === "reading"} onClick={() => void model.verify()}>
        {found === "reading" ? "Comparing …" : "Compare the messages with the checkpoints"}
      </Button>
      {found === null || found === "reading" ? null : "sentence" in found ? (
        <p class="problem">{found.sentence}</p>
      ) : found.ok ? (
        <p class="good">
          The messages are those of the checkpoints: {plural(found.messages, "message")},{" "}
          {plural(found.threads, "thread")}
          {found.pending > 0 ? `, ${found.pending} not handed to the agent yet` : ""}.
        </p>
      ) : (
        <>
          <p class="problem">
            The messages are not those of the checkpoints. <code>reprise sessions repair</code>{" "}
            shows what can be done.
          </p>
          <ul>
            {found.findings.map(({ sentence }, index) => (
              <li key={index} dir="auto">
                {sentence}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
