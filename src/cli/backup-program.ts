import type { Command } from 'commander'
import type { RestoreFlags } from './backup/restore.ts'
import type { BackupFlags } from './backup/take.ts'

/** Declares `assay backup` and `assay restore`. */
export function addBackup(program: Command, addConnection: (command: Command) => void): void {
  const backup = program
    .command('backup')
    .description('back up a running service, with the key of who owns all of its organizations')
    .argument('<place>', 'a folder')
    .option('--full', 'read everything, whatever there is of earlier backups')
    .option('--no-secrets', 'without keys, passwords and what opens secrets of users')
    .option('--mb-per-second <count>', 'read no faster than that')
    .action(async (place: string, flags: BackupFlags) =>
      (await import('./backup/take.ts')).runBackup(place, flags),
    )
  addConnection(backup)
  program
    .command('restore')
    .description('make a data directory from backups, for a service that is not running')
    .argument('<place>', 'where the backups are')
    .option('--data-dir <directory>', 'a folder that is empty or not there')
    .option('--to <moment>', 'a transaction (_xact_id) or a time; by default all that there is')
    .action(async (place: string, flags: RestoreFlags) =>
      (await import('./backup/restore.ts')).runRestore(place, flags),
    )
}
