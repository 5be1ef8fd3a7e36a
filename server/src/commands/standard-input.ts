import { UsageError } from '@shiplock/command-line/options'

/** Reads a secret from standard input, without the line break at its end. */
export async function readStandardInput(charsMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += chunk.length
    if (bytes > 2 * charsMax) throw new UsageError('Standard input is longer than a token can be')
    chunks.push(chunk)
  }
  const token = Buffer.concat(chunks).toString().trim()
  if (token === '') throw new UsageError('Standard input is empty')
  return token
}
