/** Where the object store keeps an artifact. The SQL that abandons objects writes the same form. */
export function artifactKey(orgId: string, artifactId: string): string {
  return `artifacts/${orgId}/${artifactId}`
}
