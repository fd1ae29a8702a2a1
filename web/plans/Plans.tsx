import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { pageTitle } from "../parts/attention.ts";
import { Button } from "../parts/Button.tsx";
import { Notice } from "../parts/Notice.tsx";
import "./adopt.ts";
import { attempts, checkDraft, checked, shownPlan } from "./check.ts";
import { draft, isKept } from "./draft.ts";
import { Editor, goToFinding } from "./Editor.tsx";
import { EXAMPLE } from "./example.ts";
import { Findings } from "./Findings.tsx";
import { PlanText } from "./PlanText.tsx";
import { Picture } from "./Picture.tsx";
import { countsOf, plural } from "./plan-text.ts";
import { ReadFile, takeText } from "./ReadFile.tsx";

/** Checks phase plans while they are written, and shows what can run side by side. Nothing is stored. */
export function Plans(): JSX.Element {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    pageTitle.value = "Plans";
    return checkDraft();
  }, []);
  return (
    <>
      <h1>Plans</h1>
      <ReadFile>
        <div class="plan-page">
          <section class="plan-source" aria-label="Text of the plan">
            <Editor field={field} />
            <State />
            <Findings goTo={(finding) => goToFinding(field, finding)} />
          </section>
          <section class="plan-view" aria-label="The plan">
            <View />
          </section>
        </div>
      </ReadFile>
    </>
  );
}

/** What the check came to, in one line that a screen reader reads out. */
function State(): JSX.Element {
  return (
    <>
      <output class="plan-state">
        <StateText />
      </output>
      {checked.value.state === "problem" ? (
        <Notice kind="problem">
          {checked.value.problem} <Button onClick={() => (attempts.value += 1)}>Check again</Button>
        </Notice>
      ) : null}
      {isKept.value ? null : (
        <Notice kind="warning">
          The browser does not keep a text of this size: it is lost when the page is reloaded.
        </Notice>
      )}
    </>
  );
}

function StateText(): JSX.Element | null {
  const found = checked.value;
  switch (found.state) {
    case "empty":
    case "problem":
      return null;
    case "checking":
      return <span class="muted">Checking …</span>;
    case "checked": {
      const { valid, findings, plan } = found.report;
      return (
        <>
          <span class={valid ? "badge good" : "badge problem"}>
            {valid ? "Valid" : "Not valid"}
          </span>{" "}
          {plan === null || findings.length > 0 ? countsOf(findings) : ""}
          {plan === null
            ? ""
            : `${findings.length > 0 ? "; " : ""}${plural(plan.phases.length, "phase")} in ${plural(plan.waves.length, "wave")}`}
        </>
      );
    }
  }
}

function View(): JSX.Element {
  const shown = shownPlan.value;
  if (shown === null) {
    return draft.value.text.trim() === "" ? (
      <div class="plan-empty">
        <p>
          Paste a phase plan as JSON or YAML, drop its file here, or choose it. It is checked as you
          type; nothing is stored on the service.
        </p>
        <Button onClick={() => takeText({ text: EXAMPLE, name: null })}>Show an example</Button>
      </div>
    ) : (
      <p class="muted">The waves and the picture appear when the plan is valid.</p>
    );
  }
  const isOld = checked.value.state !== "checked" || shown.text !== draft.value.text;
  const isWrong = checked.value.state === "checked" && !checked.value.report.valid;
  return (
    <>
      {isWrong ? (
        <Notice>This is the last valid version: the text has errors since then.</Notice>
      ) : null}
      <div class={isOld && isWrong ? "plan-old" : undefined}>
        <Picture plan={shown.plan} />
        <PlanText plan={shown.plan} />
      </div>
    </>
  );
}
