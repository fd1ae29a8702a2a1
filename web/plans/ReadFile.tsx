import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";

import { Button } from "../parts/Button.tsx";
import { Notice } from "../parts/Notice.tsx";
import { changeDraft, draft, type Draft } from "./draft.ts";
import { readPlanFile } from "./read-file.ts";

/** What was in the editor before it was replaced; null if that cannot be taken back. */
const replaced = signal<Draft | null>(null);

/** Puts another text into the editor. What was there can be had back. */
export function takeText(next: Draft): void {
  const before = draft.value;
  replaced.value = before.text.trim() === "" || before.text === next.text ? null : before;
  changeDraft(next);
}

/** A region in which a file of a plan can be dropped, with buttons for files above it. */
export function ReadFile({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const problem = useSignal<string | null>(null);
  const isOver = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const take = async (files: readonly File[]): Promise<void> => {
    const read = await readPlanFile(files);
    problem.value = typeof read === "string" ? read : null;
    if (typeof read !== "string") {
      takeText(read);
    }
  };
  return (
    <div
      class={isOver.value ? "drop-region over" : "drop-region"}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") === true) {
          event.preventDefault();
          isOver.value = true;
        }
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        isOver.value = false;
        const files = [...(event.dataTransfer?.files ?? [])];
        if (event.dataTransfer?.types.includes("Files") === true) {
          event.preventDefault();
          void take(files);
        }
      }}
    >
      <div class="plan-actions">
        <input
          ref={input}
          class="visually-hidden"
          type="file"
          tabIndex={-1}
          aria-hidden="true"
          accept=".json,.yaml,.yml,application/json,application/yaml"
          onChange={({ currentTarget }) => {
            void take([...(currentTarget.files ?? [])]);
            // the same file can be chosen again
            currentTarget.value = "";
          }}
        />
        <Button onClick={() => input.current?.click()}>Choose a file</Button>
        <Button
          disabled={draft.value.text === ""}
          onClick={() => takeText({ text: "", name: null })}
        >
          Clear
        </Button>
        {replaced.value === null ? null : (
          <Button
            onClick={() => {
              if (replaced.value !== null) {
                takeText(replaced.value);
              }
            }}
          >
            Take back the text before
          </Button>
        )}
        {draft.value.name === null ? null : (
          <span class="muted plan-file">
            <bdi>{draft.value.name}</bdi>
          </span>
        )}
      </div>
      {problem.value === null ? null : <Notice kind="problem">{problem.value}</Notice>}
      {children}
    </div>
  );
}
