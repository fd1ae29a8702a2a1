/** True for the address of a PostgreSQL server; every other location is a file. */
export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}
