import type { Services } from '../../../services.ts'
import { type BackfillPlace, backfillNext } from './intel-backfill.store.ts'

const START: BackfillPlace = {
  org_id: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
}

/** Hears of an import: findings that were seen before anything was known of their vulnerability get what is known now. */
export async function backfillDetection({ sql }: Pick<Services, 'sql'>): Promise<void> {
  let place: BackfillPlace | null = START
  while (place !== null) place = await backfillNext(sql, place)
}
