import { UsageError } from '@shiplock/command-line/options'
import { ImageError } from '@shiplock/report-readers/images'

/** A text that does not name an image is a mistake in the command line. */
export function refuseImage(error: unknown): never {
  throw error instanceof ImageError ? new UsageError(`--image: ${error.message}`) : error
}
