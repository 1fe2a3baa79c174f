"""From records to a supplement: assemble, figures, HTML, PDF."""
