/** A turn of phrase that readers have to decode, and what to write instead. */
export interface Idiom {
  name: string;
  find: RegExp;
  write: string;
  /** Sentences that hold it. */
  found: readonly string[];
  /** Sentences that look similar and are plain English. */
  plain?: readonly string[];
}

/** A sentence that keeps its idiom. */
export interface Allowance {
  file: string;
  /** A part of the sentence. */
  text: string;
  reason: string;
}

export const MAX_ALLOWED = 20;

export const allowed: readonly Allowance[] = [
  {
    file: "src/store/portable/export-text.ts",
    text: `"folded":`,
    reason: "a field of the export format",
  },
];

/** Words after which `where` is about a place. */
const BEFORE_A_PLACE =
  "says?|said|knows?|known|sees?|seen|shows?|shown|finds?|found|reports?|returns?|learn|remembers?|asks?|" +
  "decides?|chooses?|choice|prints?|notes?|from|of|about|on|to|in|and|or|but|is|are|was|places?|" +
  "folders?|file|lines?|column|positions?|points?|directory|path|machine|host|state|cases?|" +
  "exactly|depends|matter|matters|everywhere";

export const idioms: readonly Idiom[] = [
  {
    name: "stands",
    find: /\b(?:stands?|stood|standing)\b(?!-)/i,
    write: "is, appears, is listed, comes before or after; for `stands for`: means, replaces",
    found: ["A row stands before another.", "The name that stood in the file.", "// stands for /."],
    plain: ["A stand-in answers.", "On standby.", "We understand it."],
  },
  {
    name: "another form for error codes",
    find: /@throws\b|\b(?:Throws|Rejects|Fails|Refuses)\b(?:.* with)? `[a-z]+(?:_[a-z]+)+`/,
    write: "`Error codes: …` in the doc comment of the function",
    found: [
      "@throws RepriseError `plan_invalid`.",
      "Rejects with `database_full`.",
      "Throws `plan_invalid`.",
    ],
    plain: ["Error codes: `plan_invalid`.", "Throws SQLite's own errors."],
  },
  {
    name: "tells",
    find: /\b(?:tells?|told|telling)\b/i,
    write: "reports, returns, shows, says",
    found: ["The answer tells how many.", "Nobody is told.", "Told to stop, it ends."],
  },
  {
    name: "behind",
    find: /(?<!\b(?:leave|leaves|left|leaving)\b.{0,40})\bbehind\b(?! (?:(?:a|an|the|another|this|its|each|one) )?(?:\w+ )?(?:proxy|pooler|pgbouncer|caddy|nginx|balancer|firewall|nat)\b)/i,
    write: "after, later, following",
    found: ["Messages behind this one.", "The copy stays behind."],
    plain: ["Behind a pooler, each transaction may differ.", "It leaves nothing behind."],
  },
  {
    name: "carry out",
    find: /\bcarr(?:y|ies|ied|ying)\b(?: \w+)? out\b|\bcarry-?out\b/i,
    write: "run, execute",
    found: ["A call is carried out again.", "Carries it out."],
    plain: ["It carries the summary."],
  },
  {
    name: "at work",
    find: /\bat work\b/i,
    write: "running",
    found: ["While an exchange is at work."],
  },
  { name: "mend", find: /\bmend(?:s|ed|ing)?\b/i, write: "fix", found: ["It was mended."] },
  {
    name: "where (if) at the beginning",
    find: /^(?:- )?(?:\*\*[A-Z]+-\d+\*\* |\[[A-Z]+-\d+\] )*Where (?!(?:to|do|does|is|are)\b)[^,?:]+, (?!(?:with|in|such|as|of|at|on|which|for|or|and|by|from|not)\b)/i,
    write: "if, when",
    found: [
      "Where nothing waits, none is named.",
      "- **HTTP-6** Where more sessions follow, `Link` names the next page.",
    ],
    plain: [
      "Where it listens, with the port it got.",
      "Where is it?",
      "Where it is from: a file, a pipe.",
    ],
  },
  {
    name: "where (if) after a comma",
    find: /, where (?:it|there|one|none|nothing|that|they) (?:is|are|was|were|has|have|had|does|do|can|could)\b/i,
    write: "if, when",
    found: ["The cause, where it is known."],
    plain: ["`.ts` in declarations, where other compilers may not follow it."],
  },
  {
    name: "where (if)",
    find: new RegExp(`(?<=\\S )(?<!(?:[,;(]|\\b(?:${BEFORE_A_PLACE})) )\\bwhere (?!to\\b)`, "i"),
    write: "if, when",
    found: [
      "Null where the file has none.",
      "It is refused where the copy does not fit.",
      "Only where nobody has committed.",
    ],
    plain: [
      "It prints where the server listens.",
      "The folder where the sources are.",
      "Read on from where you stopped.",
    ],
  },
  {
    name: "look",
    find: /\b(?:an?|one|two|three|each|every|next|last|first|the|no|these|those|their|its|of|between) looks?\b(?!-)|\blook(?:s|ed|ing) (?:at|for|into|after|through)\b|\bhave a look\b/i,
    write: "a poll, polls; a check, checks; for `looks for`: searches",
    found: ["One look for all streams.", "It looks at the database.", "They are looked for."],
    plain: ["Ids that look alike.", "It is looked up by id.", "The look-up.", "Look at the log."],
  },
  {
    name: "of its own, of ours",
    find: /\bof (?:(?:its|their|his|her|our|your|my|one's) own|ours)\b/i,
    write: "separate, dedicated, own; our",
    found: ["On a connection of its own.", "An id of ours."],
    plain: ["Its own connection."],
  },
  {
    name: "goes past",
    find: /\b(?:go|goes|going|gone|went) past\b/i,
    write: "skips",
    found: ["A message goes past it."],
  },
  {
    name: "what is so",
    find: /\bwhat is so\b|\bis so (?:again|now)\b|\bat the moment\b(?! (?:that|when|of|it|they|a|an|the)\b)/i,
    write: "the current value, now",
    found: ["It shows what is so at the moment.", "That it is so again."],
    plain: ["At the moment when it begins."],
  },
  {
    name: "fault",
    find: /(?<!`)\bfaults?\b(?!`)/i,
    write: "an error, a problem (the field `faults` keeps its name, in backticks)",
    found: ["A fault in the request."],
    plain: ["See `faults`."],
  },
  {
    name: "lend, lent",
    find: /\b(?:lends?|lent|lending|lender)\b/i,
    write: "shares, shared (frozen messages)",
    found: ["The saver lends its messages.", "Messages that were lent."],
  },
  { name: "parcel", find: /\bparcels?\b/i, write: "a write batch", found: ["The parcel is sent."] },
  { name: "doomed", find: /\bdoomed\b/i, write: "to be deleted", found: ["A doomed session."] },
  {
    name: "said",
    find: /\b(?:was|were|is|be|been|being|all) said\b|\bsaid\.ts\b/i,
    write: "the message, the text; for `as it was said`: verbatim; in tests: fixtures",
    found: ["All that was said.", "The texts of `said.ts`."],
    plain: ["The server said no."],
  },
  {
    name: "share",
    find: /\bshareWork\b|\bshare\.ts\b/,
    write: "single-flight",
    found: ["See `share.ts`.", "`shareWork` runs it once."],
    plain: ["They share a file."],
  },
  { name: "stray", find: /\bstray\b/i, write: "foreign, unrelated", found: ["A stray log."] },
  {
    name: "room",
    find: /\brooms?\b/i,
    write: "space (of a disk), budget (of memory), folder (of `src/`)",
    found: ["There is no room left.", "A body waits for room."],
  },
  {
    name: "print (fingerprint)",
    find: /\b(?:an?|the|its|no|each|this|same|whose|two|their) prints?\b/i,
    write: "a fingerprint",
    found: ["The print of a message."],
    plain: ["They print one line.", "It prints the plan."],
  },
  {
    name: "place (key)",
    find: /\bplaces? of (?:an?|the|its|each|every) (?:thread|checkpoint|namespace)s?\b/i,
    write: "a thread key; a position",
    found: ["The place of a thread."],
    plain: ["In place of it.", "The place of the file."],
  },
  {
    name: "settle",
    find: /(?<!\bpromises? (?:is |has |have |are )?)\b(?:settle[sd]?|settling)\b/i,
    write: "close (open calls), sanitize (an answer), resolve (an unknown commit)",
    found: ["Open calls are settled first.", "It settles the answer."],
    plain: ["Until the promise settles."],
  },
  {
    name: "fold, unfolded",
    find: /(?<!\bcase[- ])\b(?:un)?fold(?:s|ed|ing)?\b/i,
    write: "prune (checkpoints)",
    found: ["Checkpoints are folded.", "What is unfolded yet."],
    plain: ["A folder.", "Unicode case folding."],
  },
  {
    name: "desired, truth",
    find: /\bdesired\b|(?<!\bsource of )\btruth\b/i,
    write: "the expected mirror, the messages of the checkpoints",
    found: ["The desired rows.", "The truth of a session."],
    plain: ["The single source of truth."],
  },
  {
    name: "usual, least, most (limits)",
    find: /\b(?:its|the) usual (?:value|size|limit|number|port)s?\b|`(?:least|usual)\b/i,
    write: "default; `min`, `max`, `default`",
    found: ["Its usual size.", "Between `least` and `most`."],
    plain: ["At least one, at most two.", "The usual case."],
  },
  {
    name: "Given, Blank, Ready",
    find: /`(?:Given|Blank|Ready)`/,
    write: "parameter, placeholder, compiled",
    found: ["Each `Blank` is filled."],
    plain: ["A line that is blank."],
  },
  {
    name: "is no X",
    find: /(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|less\b|earlier\b|later\b|other\b)[a-z]+\b/i,
    write: "is not a, are not",
    found: ["A text that is no JSON.", "These are no errors."],
    plain: ["There is no such file.", "It is no longer needed."],
  },
  {
    name: "whoever, anew, in passing",
    find: /\b(?:whoever|anew|in passing|half a character)\b/i,
    write: "who, the user; again; with a transient error; an unpaired surrogate",
    found: ["Whoever began it.", "It is made anew.", "It failed in passing."],
  },
  {
    name: "goes on",
    find: /\b(?:go|goes|went|gone|going) on\b(?!["?])/i,
    write: "continues",
    found: ["The session goes on.", "What is going on."],
  },
  {
    name: "comes to its end",
    find: /\b(?:come|comes|came) to (?:its|their|an) end\b/i,
    write: "finishes, finished",
    found: ["The exchange came to its end."],
  },
  {
    name: "old file names",
    find: /\b(?:body-room|lend|parcel|place|plain|settle(?:-answer)?|doomed-lines|stray-log|in-place|unfolded|plan-fold|carry-out|hold-lease|desired|truth|unreturned)\.ts\b/,
    write: "the name that the file has now",
    found: ["`in-place.ts` guards it."],
    plain: ["`lease-holder.ts` renews it."],
  },
  {
    name: "of one moment",
    find: /\b(?:of|at) one moment\b/i,
    write: "in one consistent state",
    found: ["Both are read of one moment."],
  },
  {
    name: "look whether",
    find: /\blook(?:s|ed|ing)? (?:whether|if)\b/i,
    write: "check whether",
    found: ["Look whether it is there."],
  },
  {
    name: "as it is (unchanged)",
    find: /\b(?:left?|leaves|leaving|keeps?|kept|stays?|stayed|remains?) as (?:it|they) (?:is|are|was|were)\b/i,
    write: "unchanged",
    found: ["The database was left as it is.", "It stays as it was."],
    plain: ["Stored as it was sent.", "Kept as soon as it is known."],
  },
];
