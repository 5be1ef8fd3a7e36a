/** The folders whose files are policies, with the ends of their names. */
const FOLDERS = [
  { path: '.shiplock/policies', endings: ['.yaml', '.yml', '.rego'] },
  { path: '.prodgator/policies', endings: ['.rego'] },
]

export const POLICY_FOLDERS: readonly string[] = FOLDERS.map(({ path }) => path)

/** Tests of Rego modules (OPA documentation, "Policy testing") lie beside them. */
const REGO_TEST = /_test\.rego$/

/** True if a file in one of the folders is a policy. */
export function isPolicyFile(path: string): boolean {
  const folder = FOLDERS.find(({ path: start }) => path.startsWith(`${start}/`))
  const isNamedSo = folder?.endings.some((ending) => path.endsWith(ending)) ?? false
  return isNamedSo && !REGO_TEST.test(path)
}
