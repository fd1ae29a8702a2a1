import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { useCall } from "../../parts/use-call.tsx";
import { download } from "./download.ts";

interface ExportSessionProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

const FORMATS = {
  json: { label: "JSON, to import it elsewhere", extension: "jsonl", type: "application/jsonl" },
  html: { label: "HTML, to read it in a browser", extension: "html", type: "text/html" },
  md: { label: "Markdown, to read or paste it", extension: "md", type: "text/markdown" },
} as const;

type Format = keyof typeof FORMATS;
const NAMES: readonly Format[] = ["json", "html", "md"];

/** Asks for the form of an export, and gives it to the browser as a file. */
export function ExportSession({ session, onClose }: ExportSessionProps): JSX.Element {
  const format = useSignal<Format>("json");
  const isRedacted = useSignal(false);
  const { problem, isBusy, run } = useCall(onClose);
  return (
    <Dialog title="Export this session" onClose={onClose}>
      {problem}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(() => save(session.id, { format: format.value, redact: isRedacted.value }));
        }}
      >
        {NAMES.map((name) => (
          <p key={name}>
            <label>
              <input
                type="radio"
                name="format"
                checked={format.value === name}
                onChange={() => void (format.value = name)}
              />{" "}
              {FORMATS[name].label}
            </label>
          </p>
        ))}
        <p>
          <label>
            <input
              type="checkbox"
              checked={isRedacted.value}
              onChange={({ currentTarget }) => void (isRedacted.value = currentTarget.checked)}
            />{" "}
            Leave out keys, tokens, e-mail addresses and home paths
          </label>
        </p>
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy}>
            Save the file
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

async function save(
  id: string,
  { format, redact }: { readonly format: Format; readonly redact: boolean },
): Promise<void> {
  const { extension, type } = FORMATS[format];
  const text = await client.exportSession(id, { format, ...(redact ? { redact } : {}) });
  download(text, { name: `session-${id}.${extension}`, type });
}
