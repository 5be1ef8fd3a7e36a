import { IntelError } from '../intel-error.ts'

/** Puts the file's name before what is wrong with it. */
export async function namingTheFile<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof IntelError ? new IntelError(`${path}: ${error.message}`) : error
  }
}
