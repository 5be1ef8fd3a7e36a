import { UsageError } from '@shiplock/command-line/options'
import { ImageError, type ImageSubject, readImages } from '@shiplock/report-readers/images'

/** The images of the option `--image`, for reports and gates. */
export function readImageOption(references: readonly string[]): Promise<ImageSubject[]> {
  return readImages(references).catch((error: unknown) => {
    throw error instanceof ImageError ? new UsageError(`--image: ${error.message}`) : error
  })
}
