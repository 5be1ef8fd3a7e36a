/** A file with the folders that were dropped: `reports/zap/result.sarif`. */
export type ReportFile = { file: File; path: string }

/** What a selection holds. `skipped` are files of folders that are no reports, or unreadable. */
export type Selection = { files: ReportFile[]; skipped: string[] }

const REPORT_NAME = /\.(sarif|json|jsonld|spdx|cdx|bom|vex)$/i

/** Folders hold other files, too. A file that was chosen by itself is always sent. */
export function isReportPath(path: string): boolean {
  return REPORT_NAME.test(path) && !path.split('/').some((part) => part.startsWith('.'))
}

/** The files of a drop, with those in folders. Call it within the event, which owns the data. */
export async function droppedFiles(data: DataTransfer): Promise<Selection> {
  const items = [...data.items].filter(({ kind }) => kind === 'file')
  // A file that a script made has no entry.
  const entries = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
  const selection: Selection = { files: [], skipped: [] }
  for (const entry of entries) {
    if (entry instanceof File) selection.files.push({ file: entry, path: entry.name })
    else if (entry?.isFile) await addFile(entry as FileSystemFileEntry, selection)
    else if (entry) await addFolder(entry as FileSystemDirectoryEntry, selection)
  }
  return selection
}

/** The files of an `<input type=file>`. One that chooses folders names them in `webkitRelativePath`. */
export function chosenFiles(list: FileList): Selection {
  const selection: Selection = { files: [], skipped: [] }
  for (const file of list) {
    const path = file.webkitRelativePath || file.name
    if (file.webkitRelativePath === '' || isReportPath(path)) selection.files.push({ file, path })
    else selection.skipped.push(path)
  }
  return selection
}

async function addFolder(folder: FileSystemDirectoryEntry, selection: Selection): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = pathOf(entry)
    if (entry.isDirectory && !entry.name.startsWith('.')) await addFolder(entry as FileSystemDirectoryEntry, selection)
    else if (entry.isFile && isReportPath(path)) await addFile(entry as FileSystemFileEntry, selection)
    else selection.skipped.push(path)
  }
}

/** A reader returns its entries in parts, and an empty part at the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return entries
    entries.push(...part)
  }
}

/** A file that may not be opened is skipped. */
async function addFile(entry: FileSystemFileEntry, { files, skipped }: Selection): Promise<void> {
  const path = pathOf(entry)
  await new Promise<File>((resolve, reject) => entry.file(resolve, reject)).then(
    (file) => files.push({ file, path }),
    () => skipped.push(path),
  )
}

function pathOf({ fullPath }: FileSystemEntry): string {
  return fullPath.replace(/^\//, '')
}
