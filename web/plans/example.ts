/** A plan to begin with: the one of docs/plans.md. */
export const EXAMPLE = `runId: 3f2c8a54-6f0e-4f6b-9d43-0b1f3c1e7a90
phaseKey: planning
phases:
  - key: store-tags
    title: Store tags
    role: assistant
    instructions: Add a table for tags, with tests. Done when all tests pass.
  - key: list-tags
    title: List tags
    role: assistant
    instructions: Add a page that lists tags. Done when it shows 1,000 tags.
    depends_on: [store-tags]
  - key: describe-tags
    title: Describe tags
    role: assistant
    instructions: Describe tags in the manual. Done when each field is described.
    depends_on: [store-tags]
  - key: review
    title: Review
    role: reviewer
    instructions: Review all changes for correctness and missing tests.
    depends_on: [list-tags, describe-tags]
`;
