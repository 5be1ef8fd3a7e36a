/** A reference to an element of a document (CycloneDX "BOM-Link"): `urn:cdx:serial/version#ref`. */
export type BomLink = { serialNumber: string; ref: string }

export function bomLinkOf(text: string): BomLink | null {
  const match = /^urn:cdx:([0-9a-f-]{36})\/\d{1,10}#(.+)$/is.exec(text)
  if (match === null) return null
  const [, serialNumber = '', ref = ''] = match
  return { serialNumber: serialNumber.toLowerCase(), ref: decoded(ref) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
