import type { BackupStore } from '../../backup/backup-store.ts'
import { FolderStore } from '../../backup/folder-store.ts'

/** What a command names as the place of backups. */
export async function openStore(place: string, _use: 'read' | 'write'): Promise<BackupStore> {
  return new FolderStore(place)
}
