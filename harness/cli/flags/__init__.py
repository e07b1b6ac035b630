"""The flags of every command. These modules load only what is quick to import, because every start reads them all."""
