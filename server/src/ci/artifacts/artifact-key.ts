/** Where the object store keeps an artifact. No two artifacts ever share a key, nor does one get another's later. */
export function artifactKey(orgId: string, artifactId: string): string {
  return `artifacts/${orgId}/${artifactId}`
}
