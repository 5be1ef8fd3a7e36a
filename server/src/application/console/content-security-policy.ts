/**
 * Allows what the console needs and nothing else: its own files, styles that carry the nonce of the
 * response (the component library adds `<style>` elements), and requests to this server and to the
 * store that receives uploads.
 */
export function contentSecurityPolicy(uploadOrigin: string, nonce: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${uploadOrigin}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The headers of every file of the console, beside its policy. */
export const FILE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** The headers of every page. The console uses passkeys and the clipboard, and no other device. */
export const PAGE_HEADERS = {
  ...FILE_HEADERS,
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
}
