/** How much of a test is carried out: its usual size, or REPRISE_TEST_SIZE for a torture. */
export function testSize(usual: number): number {
  return Number(process.env["REPRISE_TEST_SIZE"] ?? usual);
}
