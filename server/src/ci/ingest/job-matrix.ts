import { createInvalidFieldError } from '../../platform/http/errors.ts'
import { normalizeUnstorable } from '../../platform/http/unstorable.ts'
import { toObject } from '../../platform/json/read-value.ts'
import { MATRIX_KEY_CHARS_MAX, MATRIX_KEYS_MAX, MATRIX_TEXT_CHARS_MAX, type Matrix } from '../reports/report.schema.ts'

const POINTER = '/body/job/matrix'
const BYTES_MAX = 16 * 1024

/**
 * The matrix of a job, from any JSON value or from a text of JSON. A value that is not an object
 * becomes `{"value": …}`; so does a text that is not JSON. An empty text is no matrix. Throws 400
 * `invalid_request` for a matrix above the limits.
 */
export function readMatrix(sent: unknown): Matrix | null {
  const value = typeof sent === 'string' ? parsedText(sent) : (sent ?? null)
  if (value === null) return null
  const matrix = toObject(value) ?? { value }
  const mistake = matrixMistake(matrix)
  if (mistake !== null) throw createInvalidFieldError(POINTER, mistake)
  return matrix
}

function parsedText(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return normalizeUnstorable(JSON.parse(text), POINTER)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function matrixMistake(matrix: Matrix): string | null {
  const entries = Object.entries(matrix)
  if (entries.length > MATRIX_KEYS_MAX) return `must have at most ${MATRIX_KEYS_MAX} keys`
  if (entries.some(([key]) => key.length > MATRIX_KEY_CHARS_MAX)) {
    return `must have keys of at most ${MATRIX_KEY_CHARS_MAX} characters`
  }
  if (entries.some(([, value]) => typeof value === 'string' && value.length > MATRIX_TEXT_CHARS_MAX)) {
    return `must have texts of at most ${MATRIX_TEXT_CHARS_MAX} characters`
  }
  return Buffer.byteLength(JSON.stringify(matrix)) > BYTES_MAX ? `must be at most ${BYTES_MAX} bytes of JSON` : null
}
