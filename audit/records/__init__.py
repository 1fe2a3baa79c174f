"""Records that only audits make: responses of a model, rating sheets, results of a contrast."""
