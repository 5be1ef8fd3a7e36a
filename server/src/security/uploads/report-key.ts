/** Where the object store keeps an upload's file. */
export function reportKey(orgId: string, uploadId: string): string {
  return `uploads/${orgId}/${uploadId}`
}
