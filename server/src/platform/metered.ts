/** Passes bytes on, and reports how many there were. */
export async function* measureBytes(
  content: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    count(chunk.length)
    yield chunk
  }
}
