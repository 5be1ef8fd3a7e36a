/**
 * Does work with the API. If the credential lacks its scope, the error names the scope, which the
 * answer of the gateway does not.
 */
export async function namingScope<Result>(scope: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && error.name === 'ShiplockError' && Reflect.get(error, 'code') === 'forbidden') {
      throw new Error(`The credential does not have the scope ${scope}, which this command needs (403 forbidden)`)
    }
    throw error
  }
}
