import { createHash } from 'node:crypto'

/** A policy compiled to WebAssembly by `opa build -t wasm`, and the data that came with it. */
export type PolicyBundle = { wasm: Uint8Array; data: unknown }

/** Equal bundles have equal names. */
export function bundleDigest({ wasm, data }: PolicyBundle): string {
  return createHash('sha256').update(wasm).update(JSON.stringify(data)).digest('hex')
}
