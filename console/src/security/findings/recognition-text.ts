import type { Schema } from '../../api/client.ts'
import { oneLine } from '../../page/reported-text.ts'
import { locationText } from '../facts/place-text.ts'

type Identity = Schema<'Finding'>['identity']

const METHODS: Record<Identity['method'], string> = {
  new: 'Every report matched it exactly',
  same_fingerprint: 'A later report had its fingerprint again',
  same_place: 'By its neighbours, among equal findings of the file',
  edited_in_place: 'Its code or message changed in place',
  moved_in_file: 'It moved within its file',
  file_renamed: 'Its file or folder was renamed',
  moved_to_file: 'It moved to another file',
}

/** How reports were found to contain a finding that was already known. */
export function recognitionText({ method, matched_from: from }: Identity): string {
  return from === null ? METHODS[method] : `${METHODS[method]}, from ${oneLine(locationText(from), 150)}`
}
