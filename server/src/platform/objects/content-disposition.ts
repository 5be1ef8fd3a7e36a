const FILENAME_CHARS_MAX = 200

/**
 * Builds `Content-Disposition: attachment` with a file name that no client can read as a path, a
 * header or a second parameter: ASCII for old clients and the whole name in UTF-8 (RFC 6266 §4.3,
 * RFC 8187 §3.2).
 */
export function attachmentDisposition(filename: string): string {
  const name = safeFilename(filename)
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeExtendedValue(name)}`
}

function safeFilename(filename: string): string {
  const base = filename.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // Control characters, and marks that change the text direction, which can hide the real
  // extension.
  const visible = base.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
  const name = [...visible]
    .slice(0, FILENAME_CHARS_MAX)
    .join('')
    .replace(/^[. ]+/, '')
    .trim()
  return name || 'download'
}

/**
 * encodeURIComponent does not escape `'`, `(`, `)` and `*`, which RFC 8187's attr-char excludes.
 */
function encodeExtendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
